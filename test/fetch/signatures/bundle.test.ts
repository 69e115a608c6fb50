import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { VerificationConfig, WantedSignature } from "../../../src/config/verification.js";
import { MAX_BUNDLE_BYTES, MAX_REFERRER_LISTS, MAX_REFERRERS } from "../../../src/fetch/signatures/bundle.js";
import { imageVerifier } from "../../../src/fetch/signatures/signature-checks.js";
import { sigstoreTrustRoot } from "../../../src/fetch/signatures/trust-root.js";
import { newKeys } from "../certificates.js";
import { checksWith, failureOf, fetcher, folder, insecure, WASM } from "../helpers.js";
import { sha256, TestRegistry } from "../test-registry.js";
import { type BundleSigner, type MadeBundle, TestSigstore } from "./test-sigstore.js";

const BUNDLE = "application/vnd.dev.sigstore.bundle.v0.3+json";
const sigstore = new TestSigstore();
const keys = newKeys();
const keyOf = ({ publicKey }: ReturnType<typeof newKeys>) =>
  publicKey.export({ type: "spki", format: "pem" }).toString();
const wantedKey: WantedSignature = { kind: "pubKey", key: keyOf(keys) };
const identity = { issuer: "https://issuer.example", email: "ci@example.org" };
const wantedIdentity: WantedSignature = {
  kind: "genericIssuer",
  issuer: "https://issuer.example",
  subject: { equal: "ci@example.org" },
};
const byKey: VerificationConfig = { allOf: [wantedKey] };
const byIdentity: VerificationConfig = { allOf: [wantedIdentity] };

interface Case {
  readonly signers: readonly BundleSigner[];
  readonly config: VerificationConfig;
  /** Signs the manifest's bytes instead of a statement. */
  readonly isMessage?: boolean;
  readonly withoutReferrers?: boolean;
  /** Signatures in layers beside the bundles. */
  readonly inLayers?: readonly BundleSigner[];
  readonly noTrust?: boolean;
  /** What else is done to the registry. */
  readonly prepare?: (registry: TestRegistry, digest: string) => void;
}

/** Pushes a module with bundles, and fetches it with verification. */
async function pull(
  context: TestContext,
  { signers, config, isMessage = false, withoutReferrers = false, inLayers = [], noTrust = false, prepare }: Case,
): Promise<string> {
  const registry = await TestRegistry.start(context, { withoutReferrers });
  const digest = registry.pushModule("team/p", "v1", WASM);
  const manifest = registry.manifests.get(`team/p@${digest}`)!;
  for (const signer of signers) {
    const bytes = sigstore.bundle(digest, signer, isMessage ? manifest : undefined);
    registry.refer("team/p", digest, BUNDLE, bytes);
  }
  if (inLayers.length > 0) sigstore.sign(registry, "team/p", digest, inLayers);
  prepare?.(registry, digest);
  const root = folder(context, { "trust.json": sigstore.trustConfig() });
  const trustRoot = sigstoreTrustRoot({
    cacheDirectory: join(root, "cache"),
    ...(noTrust ? { mirror: "http://127.0.0.1:1" } : { trustConfig: join(root, "trust.json") }),
  });
  const modules = fetcher(context, {
    sources: insecure(registry.host),
    verifier: (client) => imageVerifier(config, client, checksWith(trustRoot)),
  });
  return (await modules.fetch(`registry://${registry.host}/team/p:v1`)).digest;
}

const p384 = generateKeyPairSync("ec", { namedCurve: "P-384" });
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });

describe("signatures in bundles that refer to an image", () => {
  const good: Record<string, Case> = {
    "a statement signed with the key": { signers: [{ keys }], config: byKey },
    "one with a log entry": { signers: [{ keys, log: true }], config: byKey },
    "one without the trust root": { signers: [{ keys }], config: byKey, noTrust: true },
    "the manifest signed with the key": { signers: [{ keys, log: true }], config: byKey, isMessage: true },
    "an identity": { signers: [{ identity }], config: byIdentity },
    "an identity over the manifest": { signers: [{ identity }], config: byIdentity, isMessage: true },
    "a list under a tag": { signers: [{ identity }], config: byIdentity, withoutReferrers: true },
    "one signature among others": { signers: [{}, { keys: newKeys() }, { keys }], config: byKey },
    "one bundle and one layer": {
      signers: [{ keys }],
      inLayers: [{ identity }],
      config: { allOf: [wantedKey, wantedIdentity] },
    },
    "annotations of the subject": {
      signers: [{ keys, annotations: { env: "prod", team: "a" } }],
      config: { allOf: [{ ...wantedKey, annotations: { env: "prod" } }] },
    },
    "a subject among others": {
      signers: [
        {
          keys,
          written: (statement) => {
            const made = statement as { subject: object[] };
            return JSON.stringify({ ...made, subject: [{ digest: { sha256: "00" } }, ...made.subject] });
          },
        },
      ],
      config: byKey,
    },
    "a P-384 key with its own hash": {
      signers: [{ keys: p384, hash: "sha384", log: true }],
      config: { allOf: [{ kind: "pubKey", key: keyOf(p384) }] },
    },
    "an RSA key": { signers: [{ keys: rsa, log: true }], config: { allOf: [{ kind: "pubKey", key: keyOf(rsa) }] } },
    "a bundle of version 0.1 with a chain": {
      signers: [
        {
          identity,
          spoilBundle: (bundle: MadeBundle) => {
            const { verificationMaterial: material } = bundle;
            bundle.mediaType = "application/vnd.dev.sigstore.bundle+json;version=0.1";
            material.x509CertificateChain = { certificates: [material.certificate] };
            delete material.certificate;
            delete material.tlogEntries[0].inclusionProof;
          },
        },
      ],
      config: byIdentity,
    },
    "what else refers to the image": {
      signers: [{ keys }],
      config: byKey,
      prepare: (registry, digest) => {
        registry.refer("team/p", digest, "application/spdx+json", Buffer.from("{}"));
        registry.refer("team/p", digest, BUNDLE, Buffer.from("not JSON"));
        registry.refer("team/p", digest, BUNDLE, Buffer.alloc(MAX_BUNDLE_BYTES + 1, "["));
      },
    },
  };
  for (const [name, wanted] of Object.entries(good)) {
    test(`pass: ${name}`, async (context) => {
      assert.equal(await pull(context, wanted), sha256(WASM));
    });
  }

  const spoiled = (spoilBundle: (bundle: MadeBundle) => void, signer: BundleSigner = { identity }): Case => ({
    signers: [{ ...signer, spoilBundle }],
    config: signer.identity === undefined ? byKey : byIdentity,
  });
  const flipped = (text: string): Uint8Array =>
    new Uint8Array(Buffer.from(text, "base64")).map((byte, at) => (at === 9 ? byte ^ 1 : byte));
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
  const logged = { keys, log: true };
  const other = sigstore.bundle(sha256("other"), { identity });
  const bad: Record<string, Case> = {
    "another key": { signers: [{ keys: newKeys() }], config: byKey },
    "a statement about another image": { signers: [{ keys, aboutDigest: sha256("other") }], config: byKey },
    "a statement about no image": { signers: [{ keys, statement: { subject: [] } }], config: byKey },
    "a statement that is an attestation": {
      signers: [{ keys, statement: { predicateType: "https://slsa.dev/provenance/v1" } }],
      config: byKey,
    },
    "a statement of another type": {
      signers: [{ keys, statement: { _type: "https://example.org/x" } }],
      config: byKey,
    },
    "a subject twice": {
      signers: [{ keys, written: (statement) => JSON.stringify(statement).replace("{", '{"subject":[],') }],
      config: byKey,
    },
    "a key of the statement with an escape": {
      signers: [
        { keys, written: (statement) => JSON.stringify(statement).replace('"subject"', String.raw`"subj\u0065ct"`) },
      ],
      config: byKey,
    },
    "a field of the bundle twice": {
      signers: [{ keys, printed: (bundle) => JSON.stringify(bundle).replace("{", '{"dsseEnvelope":{},') }],
      config: byKey,
    },
    "another payload type": spoiled((bundle) => (bundle.dsseEnvelope.payloadType = "text/plain"), { keys }),
    "a changed payload": spoiled((bundle) => {
      const payload = Buffer.from(bundle.dsseEnvelope.payload, "base64").toString();
      bundle.dsseEnvelope.payload = base64(Buffer.from(payload.replace("{}", "{ }")));
    }),
    "a changed signature": spoiled(({ dsseEnvelope: { signatures } }) => {
      signatures[0].sig = base64(flipped(signatures[0].sig));
    }),
    "two signatures": spoiled(({ dsseEnvelope: { signatures } }) => signatures.push(signatures[0])),
    "no signature in it": spoiled((bundle) => (bundle.dsseEnvelope.signatures = [])),
    "another annotation": {
      signers: [{ keys, annotations: { env: "dev" } }],
      config: { allOf: [{ ...wantedKey, annotations: { env: "prod" } }] },
    },
    "annotations for a signed manifest": {
      signers: [{ keys, annotations: { env: "prod" } }],
      isMessage: true,
      config: { allOf: [{ ...wantedKey, annotations: { env: "prod" } }] },
    },
    "key and annotations of two signatures": {
      signers: [{ keys }, { keys: newKeys(), annotations: { env: "prod" } }],
      config: { allOf: [{ ...wantedKey, annotations: { env: "prod" } }] },
    },
    "the key of a certificate": {
      signers: [{ identity }],
      config: { allOf: [{ kind: "pubKey", key: keyOf(sigstore.authority) }] },
    },
    "another identity": { signers: [{ identity: { ...identity, email: "ci@example.com" } }], config: byIdentity },
    "an identity of another issuer": {
      signers: [{ identity: { ...identity, issuer: "https://other.example" } }],
      config: byIdentity,
    },
    "an identity without a log entry": { signers: [{ identity, log: false }], config: byIdentity },
    "an identity without proof of the certificate log": {
      signers: [{ identity, withoutProof: true }],
      config: byIdentity,
    },
    "a certificate of a server": { signers: [{ identity, certificate: { codeSigning: false } }], config: byIdentity },
    "a log entry when the certificate was no longer valid": {
      signers: [{ identity, time: Math.floor(Date.now() / 1000) + 90 * 86400 }],
      config: byIdentity,
    },
    "a time that no log promised": spoiled(({ verificationMaterial: { tlogEntries } }) => {
      delete tlogEntries[0].inclusionPromise;
    }),
    "a changed time": spoiled(({ verificationMaterial: { tlogEntries } }) => {
      tlogEntries[0].integratedTime = String(Number(tlogEntries[0].integratedTime) + 1);
    }),
    "a changed log entry": spoiled(({ verificationMaterial: { tlogEntries } }) => {
      const body = Buffer.from(tlogEntries[0].canonicalizedBody, "base64").toString();
      tlogEntries[0].canonicalizedBody = base64(Buffer.from(body.replace("dsse", "esse")));
    }, logged),
    "a log entry of another signature": spoiled(({ verificationMaterial }) => {
      verificationMaterial.tlogEntries = (JSON.parse(other.toString()) as MadeBundle).verificationMaterial.tlogEntries;
    }),
    "a certificate of another signature": spoiled(({ verificationMaterial }) => {
      verificationMaterial.certificate = (JSON.parse(other.toString()) as MadeBundle).verificationMaterial.certificate;
    }),
    "a changed checkpoint": spoiled(({ verificationMaterial: { tlogEntries } }) => {
      const { checkpoint } = tlogEntries[0].inclusionProof;
      checkpoint.envelope = checkpoint.envelope.replace("\n1\n", "\n2\n");
    }, logged),
    "a checkpoint signed by what is not the name of a host": spoiled(({ verificationMaterial: { tlogEntries } }) => {
      const { checkpoint } = tlogEntries[0].inclusionProof;
      checkpoint.envelope = checkpoint.envelope.replace("\u2014 log.example", "\u2014 log.exampl[e]");
    }, logged),
    "a log entry whose keys are written with escapes": {
      signers: [{ keys, log: true, logged: (entry) => entry.replace('"spec":', String.raw`"sp\u0065c":`) }],
      config: byKey,
    },
    "an unknown version": spoiled(
      (bundle) => (bundle.mediaType = "application/vnd.dev.sigstore.bundle+json;version=9.9x"),
    ),
    "no verification material": spoiled((bundle) => delete bundle.verificationMaterial),
    "a certificate that is none": spoiled(
      ({ verificationMaterial }) => (verificationMaterial.certificate.rawBytes = "AAAA"),
    ),
  };
  for (const [name, wanted] of Object.entries(bad)) {
    test(`do not pass: ${name}`, async (context) => {
      assert.match(await failureOf(pull(context, wanted)), /missing signatures\nThe following|no signatures found/);
    });
  }

  test("a signature of another authority does not pass", async (context) => {
    const prepare = (registry: TestRegistry, digest: string) =>
      void registry.refer("team/p", digest, BUNDLE, new TestSigstore().bundle(digest, { identity }));
    assert.match(await failureOf(pull(context, { signers: [], config: byIdentity, prepare })), /missing signatures/);
  });

  const refusals: Record<string, [status: number, headers: Record<string, string>, body: string, expected: RegExp]> = {
    "401": [401, {}, "{}", /the registry answers 401/],
    "403": [403, {}, "{}", /the registry answers 403/],
    "429": [429, {}, "{}", /the registry answers 429/],
    "500": [500, {}, "{}", /the registry answers 500/],
    "not JSON": [200, {}, "[", /is not a JSON object/],
    "no index": [200, {}, "{}", /is not an image index/],
    "a broken entry": [200, {}, '{"schemaVersion":2,"manifests":[{}]}', /is not an image index/],
    "a list that goes on elsewhere": [
      200,
      { link: '<https://other.example/x>; rel="next"' },
      '{"schemaVersion":2,"manifests":[]}',
      /list of signatures is cut/,
    ],
    "a list cut without a rest": [
      200,
      { link: "nonsense" },
      '{"schemaVersion":2,"manifests":[]}',
      /list of signatures is cut/,
    ],
    "a list that does not end": [
      200,
      { link: '<?more=1>; rel="next"' },
      '{"schemaVersion":2,"manifests":[]}',
      /list of signatures does not end/,
    ],
    "too much": [200, {}, `{"schemaVersion":2,"manifests":[${" ".repeat(300_000)}]}`, /larger than/],
  };
  for (const [name, [status, headers, body, expected]] of Object.entries(refusals)) {
    test(`an answer to the question for bundles is never "no signatures": ${name}`, async (context) => {
      const prepare = ({ special }: TestRegistry, digest: string) =>
        special.set(`/v2/team/p/referrers/${digest}`, (_, response) => response.writeHead(status, headers).end(body));
      assert.match(await failureOf(pull(context, { signers: [{ keys }], config: byKey, prepare })), expected);
    });
  }

  test("a list of several pages is read to its end, and a web page in its place is a registry without the API", async (context) => {
    let asked = 0;
    const paged = (registry: TestRegistry, digest: string) => {
      const manifests = registry.referrers.get(`team/p@${digest}`)!;
      registry.special.set(`/v2/team/p/referrers/${digest}`, (_, response) => {
        const last = ++asked === MAX_REFERRER_LISTS;
        response.writeHead(
          200,
          last ? {} : { link: `</v2/team/p/referrers/${encodeURIComponent(digest)}?page=${asked}>; rel="next"` },
        );
        response.end(JSON.stringify({ schemaVersion: 2, manifests: last ? manifests : [] }));
      });
    };
    await pull(context, { signers: [{ keys }], config: byKey, prepare: paged });
    assert.equal(asked, MAX_REFERRER_LISTS);
    const page = ({ special }: TestRegistry, digest: string) =>
      special.set(`/v2/team/p/referrers/${digest}`, (_, response) =>
        response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end("<html>"),
      );
    await pull(context, { signers: [{ keys }], config: byKey, withoutReferrers: true, prepare: page });
  });

  test("more bundles than the limit are an error", async (context) => {
    const prepare = ({ special }: TestRegistry, digest: string) => {
      let page = 0;
      special.set(`/v2/team/p/referrers/${digest}`, (_, response) => {
        const one = { mediaType: "x", digest: sha256(`${page++}`), size: 1 };
        const manifests = Array.from({ length: MAX_REFERRERS / 4 }, () => one);
        response
          .writeHead(200, { link: `<?page=${page}>; rel="next"` })
          .end(JSON.stringify({ schemaVersion: 2, manifests }));
      });
    };
    assert.match(await failureOf(pull(context, { signers: [], config: byKey, prepare })), /too many signatures/);
  });

  test("bundles are not asked for where layers suffice, and those about something else are not fetched", async (context) => {
    let registry: TestRegistry | undefined;
    const prepare = (one: TestRegistry, digest: string) => {
      registry = one;
      const predicate = { "dev.sigstore.bundle.predicateType": "https://slsa.dev/provenance/v1" };
      one.refer("team/p", digest, BUNDLE, Buffer.from("{}"), predicate);
    };
    await pull(context, { signers: [], inLayers: [{ keys }], config: byKey, prepare });
    assert.ok(registry!.requests.every((request) => !request.includes("/referrers/")));
    const before = registry!.requests.length;
    assert.equal(before > 0, true);
    await failureOf(pull(context, { signers: [], config: byKey, prepare }));
    const blob = sha256("{}").slice(7);
    assert.ok(registry!.requests.some((request) => request.includes("/referrers/")));
    assert.ok(registry!.requests.every((request) => !request.includes(blob)));
  });
});

/** Made by cosign 3.1.2 with Fulcio 1.8.8, rekor-tiles 2.3.0 and timestamp-authority 2.1.2 (scripts/sigstore-golden). */
const GOLDEN = fileURLToPath(new URL("../../../../test/fixtures/sigstore", import.meta.url));

describe("signatures of cosign 3, with a certificate or a key, Rekor 2 and a timestamp", () => {
  const ops: WantedSignature = { kind: "pubKey", key: readFileSync(join(GOLDEN, "cosign.pub"), "utf8") };
  const ci: WantedSignature = {
    kind: "genericIssuer",
    issuer: "http://localhost:15056",
    subject: { equal: "ci@example.org" },
  };
  const env = (value: string) => ({ ...ops, annotations: { env: value } });
  type Change = "timestampAuthorities" | "certificateAuthorities" | "tlogs";
  const cases: readonly [image: string, wanted: WantedSignature, expected?: RegExp | undefined, change?: Change][] = [
    ["keyless", ci],
    ["key", ops],
    ["annotated", ops],
    ["annotated", env("prod")],
    ["annotated", env("dev"), /missing signatures/],
    ["key", env("prod"), /missing signatures/],
    ["keyless", ops, /missing signatures/],
    ["key", ci, /missing signatures/],
    ["attested only", ops, /missing signatures|no signatures found/],
    ["unsigned", ops, /no signatures found/],
    ["keyless", ci, /missing signatures/, "timestampAuthorities"],
    ["keyless", ci, /missing signatures/, "certificateAuthorities"],
    ["keyless", ci, /missing signatures/, "tlogs"],
    ["key", ops, /missing signatures/, "tlogs"],
    ["key", ops, undefined, "timestampAuthorities"],
  ];
  for (const [image, wanted, expected, change] of cases) {
    const by =
      wanted.kind === "pubKey"
        ? `by a key${wanted.annotations ? ` with ${wanted.annotations.env}` : ""}`
        : "by an identity";
    test(`${image}, ${by}${change ? `, without ${change}` : ""}: ${expected ? "refused" : "taken"}`, async (context) => {
      const registry = await TestRegistry.start(context);
      const digest = registry.load("team/p", GOLDEN).get(image)!;
      const trusted = JSON.parse(readFileSync(join(GOLDEN, "trust.json"), "utf8")) as MadeBundle;
      if (change !== undefined) trusted.trustedRoot[change] = [];
      const trustConfig = join(folder(context, { "trust.json": JSON.stringify(trusted) }), "trust.json");
      const modules = fetcher(context, {
        sources: insecure(registry.host),
        verifier: (client) =>
          imageVerifier(
            { allOf: [wanted] },
            client,
            checksWith(sigstoreTrustRoot({ trustConfig, cacheDirectory: "/nonexistent" })),
          ),
      });
      const fetched = modules.fetch(`registry://${registry.host}/team/p@${digest}`);
      if (expected === undefined) assert.match((await fetched).digest, /^sha256:/);
      else assert.match(await failureOf(fetched), expected);
    });
  }
});
