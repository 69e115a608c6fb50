/** Every way to ask for signatures, from the payload of a guest to signatures in a registry (spec kubewarden.md 7.4). */
import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { parseCapabilities } from "../../src/config/capability-patterns.js";
import { ImageInspector, sigstoreTrustRoot } from "../../src/fetch/index.js";
import { HostCapabilities } from "../../src/wasm/host/host.js";
import { ociCapability } from "../../src/wasm/host/oci.js";
import { newCertificate, newKeys } from "../fetch/certificates.js";
import { checksWith, fetcher, folder, insecure } from "../fetch/helpers.js";
import { TestSigstore } from "../fetch/signatures/test-sigstore.js";
import { TestRegistry } from "../fetch/test-registry.js";

const GITHUB = "https://token.actions.githubusercontent.com";
const keys = newKeys();
const key = keys.publicKey.export({ type: "spki", format: "pem" }).toString();
const otherKey = newKeys().publicKey.export({ type: "spki", format: "pem" }).toString();
const root = newCertificate({ name: "root", authority: true });
const leaf = newCertificate({ name: "leaf", issuer: root, codeSigning: true, email: "leaf@example.org" });
const otherLeaf = newCertificate({ name: "other", issuer: root, codeSigning: true, email: "other@example.org" });
const bytes = (text: string) => [...Buffer.from(text)];

/** An image signed in four ways, and a guest's way to ask about it. */
async function setUp(context: TestContext) {
  const registry = await TestRegistry.start(context);
  const sigstore = new TestSigstore();
  const digest = registry.push("app", "v1", []);
  sigstore.sign(registry, "app", digest, [
    { keys, annotations: { env: "prod" } },
    { keys: leaf, annotations: { env: "prod" } },
    { identity: { issuer: "https://issuer.example", email: "ci@example.org" }, annotations: { env: "prod" } },
    {
      identity: {
        issuer: GITHUB,
        uri: "https://github.com/example-org/policies/.github/workflows/release.yml@refs/tags/v1",
        repository: "example-org/policies",
      },
      annotations: { env: "prod" },
    },
  ]);
  const trustConfig = join(folder(context, { "trust.json": sigstore.trustConfig() }), "trust.json");
  const client = fetcher(context, { sources: insecure(registry.host) }).registry;
  const images = new ImageInspector(
    client,
    checksWith(sigstoreTrustRoot({ trustConfig, cacheDirectory: "/nonexistent" })),
  );
  const host = new HostCapabilities([ociCapability(images, () => performance.now())], () => {});
  const caller = { policy: "p", capabilities: parseCapabilities(["oci/*"]), contextAwareResources: [] };
  const ask = async (operation: string, question: object): Promise<string> => {
    const payload = new TextEncoder().encode(JSON.stringify(question));
    const call = { binding: "kubewarden", namespace: "oci", operation, payload };
    const answer = await host.serve(call, { caller, signal: AbortSignal.timeout(600_000) });
    return answer.ok ? `+${new TextDecoder().decode(answer.payload)}` : `-${answer.error}`;
  };
  return { ask, image: `${registry.host}/app:v1`, trusted: `+{"is_trusted":true,"digest":"${digest}"}` };
}

/** What has signed, and the same with something that has not. */
const VARIANTS: Record<string, [fits: object, doesNot: object]> = {
  SigstorePubKeyVerify: [{ pub_keys: [key] }, { pub_keys: [key, otherKey] }],
  SigstoreKeylessVerify: [
    { keyless: [{ issuer: "https://issuer.example", subject: "ci@example.org" }] },
    { keyless: [{ issuer: "https://issuer.example", subject: "ci@example.org.evil" }] },
  ],
  SigstoreKeylessPrefixVerify: [
    { keyless_prefix: [{ issuer: GITHUB, url_prefix: "https://github.com/example-org" }] },
    { keyless_prefix: [{ issuer: GITHUB, url_prefix: "https://github.com/example" }] },
  ],
  SigstoreGithubActionsVerify: [
    { owner: "example-org", repo: "policies" },
    { owner: "example-org", repo: "policie" },
  ],
  SigstoreCertificateVerify: [
    { certificate: bytes(leaf.pem), certificate_chain: [bytes(root.pem)], require_rekor_bundle: false },
    { certificate: bytes(otherLeaf.pem), certificate_chain: null, require_rekor_bundle: false },
  ],
};

for (const [type, [fits, doesNot]] of Object.entries(VARIANTS)) {
  test(`${type}, with and without annotations`, async (context) => {
    const { ask, image, trusted } = await setUp(context);
    const missing = /^-Callback evaluation failure: Image verification failed: missing signatures\n/;
    const both = async (fields: object): Promise<string[]> => {
      const answers = [await ask("v2/verify", { type, image, ...fields })];
      const inVersionOne = type === "SigstorePubKeyVerify" || type === "SigstoreKeylessVerify";
      if (inVersionOne) answers.push(await ask("v1/verify", { [type]: { image, ...fields } }));
      return answers;
    };
    for (const answer of await both(fits)) assert.equal(answer, trusted);
    for (const answer of await both({ ...fits, annotations: { env: "prod" } })) assert.equal(answer, trusted);
    for (const answer of await both({ ...fits, annotations: { env: "dev" } })) assert.match(answer, missing);
    for (const answer of await both(doesNot)) assert.match(answer, missing);
  });
}

test("any repository of an owner, and a log entry that is not there", async (context) => {
  const { ask, image, trusted } = await setUp(context);
  assert.equal(await ask("v2/verify", { type: "SigstoreGithubActionsVerify", image, owner: "example-org" }), trusted);
  const certificate = { certificate: bytes(leaf.pem), certificate_chain: null };
  const question = { type: "SigstoreCertificateVerify", image, ...certificate, require_rekor_bundle: true };
  assert.match(await ask("v2/verify", question), /^-Callback evaluation failure: Image verification failed/);
});

test("certificates and keys that can't be read are errors", async (context) => {
  const { ask, image } = await setUp(context);
  const question = { type: "SigstoreCertificateVerify", image, certificate_chain: null, require_rekor_bundle: false };
  assert.match(
    await ask("v2/verify", { ...question, certificate: bytes("no certificate") }),
    /^-Callback evaluation failure: the certificate can't be read\n\nCaused by:/,
  );
  assert.match(
    await ask("v2/verify", { type: "SigstorePubKeyVerify", image, pub_keys: ["no key"] }),
    /^-Callback evaluation failure: /,
  );
});
