/**
 * Makes test/fixtures/sigstore: an image layout with signatures by the real cosign 3, with a private Fulcio, Rekor 2 and timestamp authority, and the
 * trust configuration for them. Run by hand, where Go is: see README.md.
 *
 * node make.mjs TOOLS OUTPUT
 */
import { execFile, spawn } from "node:child_process";
import { createHash, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";

const [tools, output] = process.argv.slice(2).map((path) => resolve(path));
const work = mkdtempSync(join(tmpdir(), "sigstore-golden-"));
const started = [];
const at = { registry: 15055, issuer: 15056, fulcio: 15057, authority: 15058, rekor: 15060 };
const START = "2020-01-01T00:00:00Z";

const run = (name, ...args) => {
  const process = spawn(join(tools, name), args, { cwd: work, stdio: ["ignore", "ignore", "inherit"] });
  started.push(process);
};
/** Runs cosign beside the servers of this process. */
async function cosign(...args) {
  const env = { ...process.env, COSIGN_PASSWORD: "x" };
  await promisify(execFile)(join(tools, "cosign"), args, { cwd: work, env });
}
const file = (name, text) => {
  writeFileSync(join(work, name), text);
  return join(work, name);
};
const sha256 = (bytes) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
const blobs = `http://localhost:${at.registry}/v2/team/p`;

/** An issuer of identity tokens. */
const signer = generateKeyPairSync("rsa", { modulusLength: 2048 });
const issuer = `http://localhost:${at.issuer}`;
const identityServer = createServer((request, response) => {
  const { n, e } = createPublicKey(signer.privateKey).export({ format: "jwk" });
  const keys = { keys: [{ kty: "RSA", alg: "RS256", use: "sig", kid: "1", n, e }] };
  const discovery = {
    issuer,
    jwks_uri: `${issuer}/keys`,
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"],
  };
  response
    .writeHead(200, { "content-type": "application/json" })
    .end(JSON.stringify(request.url === "/keys" ? keys : discovery));
}).listen(at.issuer, "localhost");

function tokenOf(email) {
  const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: issuer, aud: "sigstore", sub: email, email, email_verified: true, iat: now, exp: now + 600 };
  const text = `${part({ alg: "RS256", kid: "1" })}.${part(claims)}`;
  return `${text}.${sign("sha256", Buffer.from(text), signer.privateKey).toString("base64url")}`;
}

async function until(url) {
  for (let tries = 0; tries < 100; tries++) {
    try {
      const answer = await fetch(url);
      if (answer.ok) return answer;
    } catch {}
    await wait(200);
  }
  throw new Error(`${url} does not answer`);
}

/** Pushes an artifact of one layer. */
async function push(tag, layer) {
  const put = async (bytes) => {
    const { headers } = await fetch(`${blobs}/blobs/uploads/`, { method: "POST" });
    const place = new URL(headers.get("location"), blobs);
    place.searchParams.set("digest", sha256(bytes));
    await fetch(place, { method: "PUT", body: bytes });
    return { digest: sha256(bytes), size: bytes.length };
  };
  const config = { mediaType: "application/vnd.wasm.config.v1+json", ...(await put(Buffer.from("{}"))) };
  const layers = [{ mediaType: "application/vnd.wasm.content.layer.v1+wasm", ...(await put(layer)) }];
  const mediaType = "application/vnd.oci.image.manifest.v1+json";
  const manifest = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType, config, layers }));
  const { status } = await fetch(`${blobs}/manifests/${tag}`, {
    method: "PUT",
    headers: { "content-type": mediaType },
    body: manifest,
  });
  if (status !== 201) throw new Error(`pushing ${tag}: ${status}`);
  return sha256(manifest);
}

/** Copies manifests and blobs of a name into the layout. */
async function copy(name, listed, annotations) {
  const folder = join(output, "blobs", "sha256");
  mkdirSync(folder, { recursive: true });
  const bytesOf = async (path) =>
    Buffer.from(await (await fetch(`${blobs}/${path}`, { headers: { accept: "*/*" } })).arrayBuffer());
  const write = (bytes) => writeFileSync(join(folder, sha256(bytes).slice(7)), bytes);
  const manifest = await bytesOf(`manifests/${name}`);
  write(manifest);
  const content = JSON.parse(manifest.toString());
  for (const { digest } of [content.config, ...content.layers]) write(await bytesOf(`blobs/${digest}`));
  listed.push({
    mediaType: content.mediaType,
    digest: sha256(manifest),
    size: manifest.length,
    ...(content.artifactType && { artifactType: content.artifactType }),
    ...(annotations && { annotations }),
  });
}

try {
  run("registry", "-port", String(at.registry));
  run("timestamp-server", "serve", "--port", String(at.authority), "--disable-ntp-monitoring");
  const log = generateKeyPairSync("ed25519");
  const keyFile = file("rekor.pem", log.privateKey.export({ type: "pkcs8", format: "pem" }));
  run(
    "posix",
    "serve",
    "--storage-dir",
    join(work, "tiles"),
    "--signer-filepath",
    keyFile,
    "--hostname",
    "rekor.test",
    "--http-port",
    String(at.rekor),
    "--grpc-port",
    "15061",
    "--http-metrics-port",
    "15062",
    "--checkpoint-interval",
    "1s",
    "--batch-max-age",
    "200ms",
  );
  const config = file(
    "fulcio.yaml",
    `oidc-issuers:\n  ${issuer}:\n    issuer-url: ${issuer}\n    client-id: sigstore\n    type: email\n`,
  );
  run(
    "fulcio",
    "serve",
    "--ca",
    "ephemeralca",
    "--ct-log-url",
    "",
    "--config-path",
    config,
    "--port",
    String(at.fulcio),
    "--grpc-port",
    "15063",
    "--metrics-port",
    "15064",
  );

  const { chains } = await (await until(`http://localhost:${at.fulcio}/api/v2/trustBundle`)).json();
  const authority = await (await until(`http://localhost:${at.authority}/api/v1/timestamp/certchain`)).text();
  const der = (pem) => ({ rawBytes: pem.replace(/-----[^-]+-----|\s/g, "") });
  const pems = (text) => text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g);
  const validFor = { start: START };
  const service = (url, majorApiVersion) => ({ url, majorApiVersion, validFor, operator: "test" });
  const signingConfig = file(
    "signing.json",
    JSON.stringify({
      mediaType: "application/vnd.dev.sigstore.signingconfig.v0.2+json",
      caUrls: [service(`http://localhost:${at.fulcio}`, 1)],
      oidcUrls: [service(issuer, 1)],
      rekorTlogUrls: [service(`http://localhost:${at.rekor}`, 2)],
      rekorTlogConfig: { selector: "ANY" },
      tsaUrls: [service(`http://localhost:${at.authority}/api/v1/timestamp`, 1)],
      tsaConfig: { selector: "ANY" },
    }),
  );
  // The log's id: the hash of a note's key (C2SP signed-note), here of an Ed25519 key.
  const raw = Buffer.from(log.publicKey.export({ format: "jwk" }).x, "base64url");
  const logId = createHash("sha256")
    .update(Buffer.concat([Buffer.from("rekor.test\n"), Buffer.from([1]), raw]))
    .digest();
  const trustedRoot = {
    mediaType: "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
    tlogs: [
      {
        baseUrl: "https://rekor.test",
        hashAlgorithm: "SHA2_256",
        publicKey: {
          rawBytes: log.publicKey.export({ type: "spki", format: "der" }).toString("base64"),
          keyDetails: "PKIX_ED25519",
          validFor,
        },
        logId: { keyId: logId.toString("base64") },
      },
    ],
    ctlogs: [],
    certificateAuthorities: chains.map(({ certificates }) => ({
      subject: { organization: "test", commonName: "test" },
      uri: "https://fulcio.test",
      certChain: { certificates: certificates.map(der) },
      validFor,
    })),
    timestampAuthorities: [
      {
        subject: { organization: "test", commonName: "test" },
        uri: "https://tsa.test",
        certChain: { certificates: pems(authority).map(der) },
        validFor,
      },
    ],
  };
  const root = file("root.json", JSON.stringify(trustedRoot));
  await cosign("generate-key-pair");

  const module = Buffer.from("0061736d01000000", "hex");
  const names = { keyless: [], key: [], annotated: [], "attested only": [], unsigned: [] };
  const digests = {};
  for (const [index, name] of Object.keys(names).entries()) {
    // A custom section with the name makes each module another one.
    const text = Buffer.from(name);
    digests[name] = await push(
      `v${index}`,
      Buffer.concat([module, Buffer.from([0, text.length + 1, text.length]), text]),
    );
  }
  const image = (name) => `localhost:${at.registry}/team/p@${digests[name]}`;
  const common = ["-y", "--allow-http-registry", "--signing-config", signingConfig, "--trusted-root", root];
  await cosign("sign", ...common, "--identity-token", tokenOf("ci@example.org"), image("keyless"));
  await cosign("sign", ...common, "--key", "cosign.key", image("key"));
  await cosign("sign", ...common, "--key", "cosign.key", "-a", "env=prod", image("annotated"));
  const predicate = file("predicate.json", JSON.stringify({ result: "failed" }));
  await cosign(
    "attest",
    ...common,
    "--key",
    "cosign.key",
    "--type",
    "custom",
    "--predicate",
    predicate,
    image("attested only"),
  );

  rmSync(output, { recursive: true, force: true });
  const listed = [];
  for (const [name, digest] of Object.entries(digests)) {
    await copy(digest, listed, { "org.opencontainers.image.ref.name": name });
    const index = await fetch(`${blobs}/manifests/${digest.replace(":", "-")}`, { headers: { accept: "*/*" } });
    if (!index.ok) continue;
    for (const one of (await index.json()).manifests) await copy(one.digest, listed, one.annotations);
  }
  const write = (name, value) => writeFileSync(join(output, name), `${JSON.stringify(value, undefined, 2)}\n`);
  write("oci-layout", { imageLayoutVersion: "1.0.0" });
  write("index.json", { schemaVersion: 2, mediaType: "application/vnd.oci.image.index.v1+json", manifests: listed });
  write("trust.json", {
    mediaType: "application/vnd.dev.sigstore.clienttrustconfig.v0.1+json",
    trustedRoot,
    signingConfig: {},
  });
  writeFileSync(join(output, "cosign.pub"), readFileSync(join(work, "cosign.pub")));
} finally {
  for (const one of started) one.kill();
  identityServer.close();
  rmSync(work, { recursive: true, force: true });
}
