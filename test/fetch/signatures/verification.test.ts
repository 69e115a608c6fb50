import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import type { VerificationConfig, WantedSignature } from "../../../src/config/verification.js";
import { imageVerifier } from "../../../src/fetch/signatures/signature-checks.js";
import { sigstoreTrustRoot } from "../../../src/fetch/signatures/trust-root.js";
import { newKeys } from "../certificates.js";
import { checksWith, failureOf, fetcher, folder, insecure, type ReadingFetcher, WASM } from "../helpers.js";
import { sha256, TestRegistry } from "../test-registry.js";
import { type Signer, TestSigstore } from "./test-sigstore.js";

const sigstore = new TestSigstore();
const keys = newKeys();
const key = keys.publicKey.export({ type: "spki", format: "pem" }).toString();
const wantedKey: WantedSignature = { kind: "pubKey", owner: "ops", key };
const ISSUER = "https://issuer.example";
const GITHUB = "https://token.actions.githubusercontent.com";
const identity = { issuer: ISSUER, email: "ci@example.org" };
const workflow = {
  issuer: GITHUB,
  uri: "https://github.com/example-org/policies/.github/workflows/release.yml@refs/tags/v1",
  repository: "example-org/policies",
};
const byIdentity = (subject: { equal: string } | { urlPrefix: string }, issuer = ISSUER): WantedSignature => ({
  kind: "genericIssuer",
  issuer,
  subject,
});

interface Case {
  readonly signers: readonly Signer[];
  readonly config: VerificationConfig;
  /** Without a trust configuration, and with a repository that can't be reached. */
  readonly noTrust?: boolean;
}

/** Pushes a module with signatures, and fetches it with verification. */
async function pull(context: TestContext, { signers, config, noTrust }: Case): ReturnType<ReadingFetcher["fetch"]> {
  const registry = await TestRegistry.start(context);
  const digest = registry.pushModule("team/p", "v1", WASM);
  if (signers.length > 0) sigstore.sign(registry, "team/p", digest, signers);
  const root = folder(context, { "trust.json": sigstore.trustConfig() });
  const trustRoot = sigstoreTrustRoot({
    cacheDirectory: join(root, "cache"),
    ...(noTrust ? { mirror: "http://127.0.0.1:1" } : { trustConfig: join(root, "trust.json") }),
  });
  const modules = fetcher(context, {
    sources: insecure(registry.host),
    verifier: (client) => imageVerifier(config, client, checksWith(trustRoot)),
  });
  return modules.fetch(`registry://${registry.host}/team/p:v1`);
}

describe("signed modules", () => {
  const good: Record<string, Case> = {
    "a signature with the key": { signers: [{ keys }], config: { allOf: [wantedKey] } },
    "a signature with the key and a log entry": { signers: [{ keys, log: true }], config: { allOf: [wantedKey] } },
    "one signature among others": { signers: [{}, { keys: newKeys() }, { keys }], config: { allOf: [wantedKey] } },
    "annotations in the payload": {
      signers: [{ keys, annotations: { env: "prod", team: "a" } }],
      config: { allOf: [{ ...wantedKey, annotations: { env: "prod" } }] },
    },
    "an identity": { signers: [{ identity }], config: { allOf: [byIdentity({ equal: "ci@example.org" })] } },
    "an identity below a URL": {
      signers: [{ identity: workflow }],
      config: { allOf: [byIdentity({ urlPrefix: "https://github.com/example-org/" }, GITHUB)] },
    },
    "a workflow of a repository": {
      signers: [{ identity: workflow }],
      config: { allOf: [{ kind: "githubAction", owner: "example-org", repo: "policies" }] },
    },
    "a workflow of an owner": {
      signers: [{ identity: workflow }],
      config: { allOf: [{ kind: "githubAction", owner: "example-org" }] },
    },
    "some of several": {
      signers: [{ keys }, { identity }],
      config: {
        anyOf: {
          minimumMatches: 2,
          signatures: [wantedKey, byIdentity({ equal: "else@example.org" }), byIdentity({ equal: "ci@example.org" })],
        },
      },
    },
    "a key alone, when the trust root can't be had": {
      signers: [{ keys }],
      config: { allOf: [wantedKey] },
      noTrust: true,
    },
  };
  for (const [name, wanted] of Object.entries(good)) {
    test(`${name} suffices`, async (context) => {
      assert.equal((await pull(context, wanted)).digest, sha256(WASM));
    });
  }

  const MISSING =
    /^Policy 'p' cannot be verified: Image verification failed: missing signatures\nThe following constraints were not satisfied:\n- kind: /;
  const other = "https://other.example";
  const bad: Record<string, [wanted: Case, expected?: RegExp]> = {
    "no signature at all": [
      { signers: [], config: { allOf: [wantedKey] } },
      /^Policy 'p' cannot be verified: no signatures found for image: localhost:\d+\/team\/p:v1 $/,
    ],
    "a signature with another key": [{ signers: [{ keys: newKeys() }], config: { allOf: [wantedKey] } }],
    "a signature about another image": [
      { signers: [{ keys, aboutDigest: sha256("other") }], config: { allOf: [wantedKey] } },
    ],
    "a signature that was changed": [
      {
        signers: [
          {
            keys,
            spoil: (annotations) => {
              annotations["dev.cosignproject.cosign/signature"] = "AAAA";
            },
          },
        ],
        config: { allOf: [wantedKey] },
      },
    ],
    "another annotation": [
      {
        signers: [{ keys, annotations: { env: "dev" } }],
        config: { allOf: [{ ...wantedKey, annotations: { env: "prod" } }] },
      },
    ],
    "another issuer": [
      {
        signers: [{ identity: { ...identity, issuer: other } }],
        config: { allOf: [byIdentity({ equal: "ci@example.org" })] },
      },
    ],
    "another subject": [{ signers: [{ identity }], config: { allOf: [byIdentity({ equal: "ci@example.or" })] } }],
    "a URL that only starts alike": [
      {
        signers: [{ identity: { ...workflow, uri: "https://github.com/example-org-evil/x" } }],
        config: { allOf: [byIdentity({ urlPrefix: "https://github.com/example-org/" }, GITHUB)] },
      },
    ],
    "a workflow of another owner, in a repository named alike": [
      {
        signers: [{ identity: { ...workflow, repository: "example-org-evil/policies" } }],
        config: { allOf: [{ kind: "githubAction", owner: "example-org" }] },
      },
    ],
    "a workflow that another issuer vouches for": [
      {
        signers: [{ identity: { ...workflow, issuer: other } }],
        config: { allOf: [{ kind: "githubAction", owner: "example-org" }] },
      },
    ],
    "a subject that isn't at GitHub": [
      {
        signers: [{ identity: { ...workflow, uri: "https://github.com.evil.example/x" } }],
        config: { allOf: [{ kind: "githubAction", owner: "example-org" }] },
      },
    ],
    "an identity without log entry": [
      { signers: [{ identity, log: false }], config: { allOf: [byIdentity({ equal: "ci@example.org" })] } },
    ],
    "an identity without proof of the certificate log": [
      { signers: [{ identity, withoutProof: true }], config: { allOf: [byIdentity({ equal: "ci@example.org" })] } },
    ],
    "a certificate of the same authority that is a server's": [
      {
        signers: [{ identity, certificate: { codeSigning: false } }],
        config: { allOf: [byIdentity({ equal: "ci@example.org" })] },
      },
    ],
    "a certificate of the same authority that is an authority's": [
      {
        signers: [{ identity, certificate: { authority: true } }],
        config: { allOf: [byIdentity({ equal: "ci@example.org" })] },
      },
    ],
    "a log entry from when the certificate was no longer valid": [
      {
        signers: [{ identity, time: Math.floor(Date.now() / 1000) + 90 * 86400 }],
        config: { allOf: [byIdentity({ equal: "ci@example.org" })] },
      },
    ],
    "a log entry of another signature": [
      {
        signers: [
          {
            keys,
            log: true,
            spoil: (annotations) => {
              const bundle = JSON.parse(annotations["dev.sigstore.cosign/bundle"]!) as {
                Payload: { logIndex: number };
              };
              bundle.Payload.logIndex++;
              annotations["dev.sigstore.cosign/bundle"] = JSON.stringify(bundle);
            },
          },
        ],
        config: { allOf: [wantedKey] },
      },
    ],
    "a log entry whose keys are written with escapes": [
      {
        signers: [{ keys, log: true, logged: (entry) => entry.replace('"spec":', String.raw`"sp\u0065c":`) }],
        config: { allOf: [wantedKey] },
      },
    ],
    "fewer than the wanted number": [
      {
        signers: [{ keys }],
        config: { anyOf: { minimumMatches: 2, signatures: [wantedKey, byIdentity({ equal: "ci@example.org" })] } },
      },
      /^Policy 'p' cannot be verified: Image verification failed: minimum number of signatures not reached: needed 2, got 1\nThe following constraints were not satisfied:\n- kind: genericIssuer\n {2}issuer: https:\/\/issuer\.example\n {2}subject:\n {4}equal: ci@example\.org$/,
    ],
    "one list of two": [
      {
        signers: [{ keys }],
        config: {
          allOf: [byIdentity({ equal: "ci@example.org" })],
          anyOf: { minimumMatches: 1, signatures: [wantedKey] },
        },
      },
    ],
    "an identity when the trust root can't be had": [
      { signers: [{ identity }], config: { allOf: [byIdentity({ equal: "ci@example.org" })] }, noTrust: true },
      /^Policy 'p' cannot be verified: the Sigstore trust root can't be had: /,
    ],
  };
  for (const [name, [wanted, expected = MISSING]] of Object.entries(bad)) {
    test(`${name} doesn't`, async (context) => {
      assert.match(await failureOf(pull(context, wanted)), expected);
    });
  }

  test("messages name a key by its fingerprint, and hold none that was given as a private one", async (context) => {
    const name = `sha256:${createHash("sha256")
      .update(keys.publicKey.export({ type: "spki", format: "der" }))
      .digest("hex")}`;
    const failure = await failureOf(pull(context, { signers: [{}], config: { allOf: [wantedKey] } }));
    assert.match(failure, new RegExp(`\\n- kind: pubKey\\n {2}owner: ops\\n {2}key: ${name}$`));
    const secret = keys.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    const guest = await failureOf(
      pull(context, { signers: [{ keys }], config: { allOf: [{ kind: "pubKey", key: secret }] } }),
    );
    assert.match(guest, /missing signatures\n.*\n- kind: pubKey\n {2}key: not a public key$/);
  });

  test("a certificate of another authority doesn't", async (context) => {
    const registry = await TestRegistry.start(context);
    const digest = registry.pushModule("p", "v1", WASM);
    new TestSigstore().sign(registry, "p", digest, [{ identity }]);
    const trustConfig = join(folder(context, { "trust.json": sigstore.trustConfig() }), "trust.json");
    const modules = fetcher(context, {
      sources: insecure(registry.host),
      verifier: (client) =>
        imageVerifier(
          { allOf: [byIdentity({ equal: "ci@example.org" })] },
          client,
          checksWith(sigstoreTrustRoot({ trustConfig, cacheDirectory: "/nonexistent" })),
        ),
    });
    assert.match(await failureOf(modules.fetch(`registry://${registry.host}/p:v1`)), MISSING);
  });

  test("files and HTTP addresses can't be verified", async (context) => {
    const modules = fetcher(context, {
      verifier: (client) =>
        imageVerifier(
          { allOf: [wantedKey] },
          client,
          checksWith(sigstoreTrustRoot({ cacheDirectory: "/nonexistent" })),
        ),
    });
    for (const location of ["file:///x.wasm", "https://files.example/x.wasm"]) {
      assert.match(
        await failureOf(modules.fetch(location)),
        /^Policy 'p' cannot be verified: only modules from OCI registries/,
      );
    }
  });

  test("a kept file that isn't the verified one is fetched again, and a tag that moved is verified anew", async (context) => {
    const registry = await TestRegistry.start(context);
    const downloadDirectory = folder(context);
    const get = () =>
      fetcher(context, {
        downloadDirectory,
        sources: insecure(registry.host),
        verifier: (client) =>
          imageVerifier(
            { allOf: [wantedKey] },
            client,
            checksWith(sigstoreTrustRoot({ cacheDirectory: "/nonexistent" })),
          ),
      }).fetch(`registry://${registry.host}/p:v1`);
    sigstore.sign(registry, "p", registry.pushModule("p", "v1", WASM), [{ keys }]);
    assert.equal((await get()).digest, sha256(WASM));
    const moved = Buffer.concat([WASM, Buffer.from("2")]);
    const digest = registry.pushModule("p", "v1", moved);
    assert.match(await failureOf(get()), /no signatures found/);
    sigstore.sign(registry, "p", digest, [{ keys }]);
    assert.equal((await get()).digest, sha256(moved));
    const blobs = () => registry.requests.filter((request) => request.includes(`/blobs/${sha256(moved)}`)).length;
    const before = blobs();
    assert.equal((await get()).digest, sha256(moved));
    assert.equal(blobs(), before);
  });
});
