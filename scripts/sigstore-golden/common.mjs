/** What the makers of golden signatures share: programs in a work folder, an issuer of identity tokens, services of sigstore, and their trust root. */
import { execFile, spawn } from "node:child_process";
import { createHash, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";

/** Start of validity in trust roots: services made today are trusted for signatures of any time since. */
const START = "2020-01-01T00:00:00Z";

export const sha256 = (bytes) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

/** A folder for the time of the making, and the programs that run in it until `close`. */
export function workshop(tools) {
  const folder = mkdtempSync(join(tmpdir(), "sigstore-golden-"));
  const started = [];
  return {
    folder,
    path: (name) => join(folder, name),
    read: (name) => readFileSync(join(folder, name), "utf8"),
    write(name, text) {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    },
    /** Starts a service, and returns its process. */
    start(name, ...args) {
      const service = spawn(join(tools, name), args, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
      started.push(service);
      return service;
    },
    /** Runs a program to its end, beside the servers of this process. */
    async run(name, args, env = {}) {
      const all = { ...process.env, COSIGN_PASSWORD: "x", ...env };
      return promisify(execFile)(join(tools, name), args, { cwd: folder, env: all, maxBuffer: 1 << 26 });
    },
    close() {
      for (const one of started) one.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Waits until an address answers. */
export async function until(url) {
  for (let tries = 0; tries < 100; tries++) {
    try {
      const answer = await fetch(url);
      if (answer.ok) return answer;
    } catch {}
    await wait(200);
  }
  throw new Error(`${url} does not answer`);
}

/** An issuer of identity tokens, which also issues for the paths below its address. */
export function identityIssuer(port) {
  const signer = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const address = `http://localhost:${port}`;
  const server = createServer((request, response) => {
    const { n, e } = createPublicKey(signer.privateKey).export({ format: "jwk" });
    const keys = { keys: [{ kty: "RSA", alg: "RS256", use: "sig", kid: "1", n, e }] };
    const discovery = {
      issuer: `${address}${request.url.replace("/.well-known/openid-configuration", "")}`,
      jwks_uri: `${address}/keys`,
      response_types_supported: ["id_token"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["RS256"],
    };
    response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify(request.url === "/keys" ? keys : discovery));
  }).listen(port, "localhost");
  return {
    address,
    close: () => server.close(),
    token(claims) {
      const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
      const now = Math.floor(Date.now() / 1000);
      const all = { iss: address, aud: "sigstore", iat: now, exp: now + 600, ...claims };
      const text = `${part({ alg: "RS256", kid: "1" })}.${part(all)}`;
      return `${text}.${sign("sha256", Buffer.from(text), signer.privateKey).toString("base64url")}`;
    },
  };
}

/** The claims of a token for an address of mail. */
export const mailClaims = (email) => ({ sub: email, email, email_verified: true });

/** A repository of a registry without TLS. */
export function repository(host, name) {
  const base = `http://${host}/v2/${name}`;
  const accept = { headers: { accept: "*/*" } };
  return {
    async bytes(path) {
      const answer = await fetch(`${base}/${path}`, accept);
      return answer.ok ? Buffer.from(await answer.arrayBuffer()) : undefined;
    },
    async json(path) {
      const answer = await fetch(`${base}/${path}`, accept);
      return answer.ok ? answer.json() : undefined;
    },
    remove: (digest) => fetch(`${base}/manifests/${digest}`, { method: "DELETE" }),
    /** Pushes a blob, and returns its descriptor without a media type. */
    async blob(bytes) {
      const { headers } = await fetch(`${base}/blobs/uploads/`, { method: "POST" });
      const place = new URL(headers.get("location"), base);
      place.searchParams.set("digest", sha256(bytes));
      const { status } = await fetch(place, { method: "PUT", body: bytes });
      if (status !== 201) throw new Error(`pushing a blob to ${base}: ${status}`);
      return { digest: sha256(bytes), size: bytes.length };
    },
    /** Pushes a manifest (bytes, or an object) by tag or digest. */
    async manifest(content, tag) {
      const bytes = Buffer.isBuffer(content) ? content : Buffer.from(JSON.stringify(content));
      const { mediaType } = JSON.parse(bytes.toString());
      const { status, headers } = await fetch(`${base}/manifests/${tag ?? sha256(bytes)}`, {
        method: "PUT",
        headers: { "content-type": mediaType },
        body: bytes,
      });
      if (status !== 201) throw new Error(`pushing ${base}:${tag}: ${status}`);
      return { digest: sha256(bytes), size: bytes.length, mediaType, takesSubjects: headers.has("oci-subject") };
    },
  };
}

/** Writes an image layout: `layout.blob(bytes)`, then `layout.end(manifests)`. */
export function layoutWriter(output) {
  const folder = join(output, "blobs", "sha256");
  rmSync(output, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const json = (name, value) => writeFileSync(join(output, name), `${JSON.stringify(value, undefined, 2)}\n`);
  return {
    json,
    blob: (bytes) => writeFileSync(join(folder, sha256(bytes).slice(7)), bytes),
    end(manifests) {
      json("oci-layout", { imageLayoutVersion: "1.0.0" });
      json("index.json", { schemaVersion: 2, mediaType: "application/vnd.oci.image.index.v1+json", manifests });
    },
  };
}

/** Starts Rekor 2, and returns its public key and name. */
export function startRekor(shop, port) {
  const log = generateKeyPairSync("ed25519");
  const key = shop.write("rekor.pem", log.privateKey.export({ type: "pkcs8", format: "pem" }));
  const name = "rekor.test";
  const options = {
    "storage-dir": shop.path("tiles"),
    "signer-filepath": key,
    hostname: name,
    "http-port": port,
    "grpc-port": port + 1,
    "http-metrics-port": port + 2,
    "checkpoint-interval": "1s",
    "batch-max-age": "200ms",
  };
  shop.start("posix", "serve", ...Object.entries(options).flatMap(([option, value]) => [`--${option}`, String(value)]));
  return { name, key: log.publicKey };
}

export const certificatesIn = (text) => text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g);
const keyBytes = (key) => key.export({ type: "spki", format: "der" });
const validFor = { start: START };

/** A Rekor 2 log in a trust root: its id is the hash of a note's key (C2SP signed-note), here of an Ed25519 key. */
export function tileLog({ name, key }) {
  const raw = Buffer.from(key.export({ format: "jwk" }).x, "base64url");
  const note = Buffer.concat([Buffer.from(`${name}\n`), Buffer.from([1]), raw]);
  return {
    baseUrl: `https://${name}`,
    hashAlgorithm: "SHA2_256",
    publicKey: { rawBytes: keyBytes(key).toString("base64"), keyDetails: "PKIX_ED25519", validFor },
    logId: { keyId: createHash("sha256").update(note).digest("base64") },
  };
}

/** A Rekor 1 or a CT log in a trust root: its id is the hash of its P-256 key. */
export const keyedLog = ({ name, key }) => ({
  baseUrl: `https://${name}`,
  hashAlgorithm: "SHA2_256",
  publicKey: { rawBytes: keyBytes(key).toString("base64"), keyDetails: "PKIX_ECDSA_P256_SHA_256", validFor },
  logId: { keyId: createHash("sha256").update(keyBytes(key)).digest("base64") },
});

/** A trust root of logs and of chains of certificates (texts of PEM). */
export function trustedRootOf({ tlogs, ctlogs = [], fulcio, timestamps }) {
  const authority = (uri) => (chain) => ({
    subject: { organization: "test", commonName: "test" },
    uri,
    certChain: { certificates: chain.map((pem) => ({ rawBytes: pem.replace(/-----[^-]+-----|\s/g, "") })) },
    validFor,
  });
  return {
    mediaType: "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
    tlogs,
    ctlogs,
    certificateAuthorities: fulcio.map(authority("https://fulcio.test")),
    timestampAuthorities: timestamps.map(authority("https://tsa.test")),
  };
}

/** A trust configuration as clients read it. */
export const clientTrust = (trustedRoot) => ({
  mediaType: "application/vnd.dev.sigstore.clienttrustconfig.v0.1+json",
  trustedRoot,
  signingConfig: {},
});

/** Where cosign 3 signs; `rekor` is an address and a version (1 or 2). */
export function signingConfigOf({ fulcio, issuer, rekor, tsa }) {
  const services = (url, majorApiVersion) => (url ? [{ url, majorApiVersion, validFor, operator: "test" }] : []);
  return JSON.stringify({
    mediaType: "application/vnd.dev.sigstore.signingconfig.v0.2+json",
    caUrls: services(fulcio, 1),
    oidcUrls: services(issuer, 1),
    rekorTlogUrls: services(rekor?.url, rekor?.version),
    ...(rekor && { rekorTlogConfig: { selector: "ANY" } }),
    tsaUrls: services(tsa && `${tsa}/api/v1/timestamp`, 1),
    ...(tsa && { tsaConfig: { selector: "ANY" } }),
  });
}
