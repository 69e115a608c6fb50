/** What the signatures of one party may cost the others: who is found among many, and what a check holds up. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import type { VerificationConfig, WantedSignature } from "../../../src/config/verification.js";
import { MAX_REFUSALS, REFUSAL_KEPT_MS, SignatureChecks } from "../../../src/fetch/signatures/signature-checks.js";
import { sigstoreTrustRoot, type TrustRoot } from "../../../src/fetch/signatures/trust-root.js";
import { hasMainThreadTime, longestHold } from "../../support/main-thread-time.js";
import { newKeys } from "../certificates.js";
import { fetcher, folder, insecure } from "../helpers.js";
import { sha256, TestRegistry } from "../test-registry.js";
import { type Signer, TestSigstore } from "./test-sigstore.js";

const sigstore = new TestSigstore();
const keys = newKeys();
const wantedKey: WantedSignature = {
  kind: "pubKey",
  key: keys.publicKey.export({ type: "spki", format: "pem" }).toString(),
};
const identity = { issuer: "https://issuer.example", email: "wanted@example.org" };
const wantedIdentity = (equal = identity.email): WantedSignature => ({
  kind: "genericIssuer",
  issuer: identity.issuer,
  subject: { equal },
});
const PAYLOAD = "application/vnd.dev.cosign.simplesigning.v1+json";
const SIGNATURE = "dev.cosignproject.cosign/signature";
type Layer = ReturnType<TestSigstore["layer"]>;

async function setUp(context: TestContext, now = () => performance.now(), onTrust = () => {}) {
  const registry = await TestRegistry.start(context);
  const digest = registry.pushModule("app", "v1", Buffer.from("module"));
  const trustConfig = join(folder(context, { "trust.json": sigstore.trustConfig() }), "trust.json");
  const trusted = sigstoreTrustRoot({ trustConfig, cacheDirectory: "/nonexistent" });
  let asked = 0;
  const trustRoot: TrustRoot = () => {
    asked++;
    onTrust();
    return trusted();
  };
  let clock = 0;
  const checks = new SignatureChecks(trustRoot, () => clock + now());
  const client = fetcher(context, { sources: insecure(registry.host) }).registry;
  const tag = `${digest.replace(":", "-")}.sig`;
  const image = { host: registry.host, repository: "app", tag: "v1" };
  return {
    registry,
    tag,
    layer: (signer: Signer, by = sigstore) => by.layer(registry.host, "app", digest, signer),
    push: (layers: readonly Layer[]) => registry.push("app", tag, layers),
    check: (config: VerificationConfig, signal = AbortSignal.timeout(600_000), of = digest) =>
      checks.check(config, { registry: client, image, digest: of, signal }),
    trustAsked: () => asked,
    pass: (milliseconds: number) => {
      clock += milliseconds;
    },
  };
}

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const MISSING = { message: /^Image verification failed: missing signatures\n/ };

describe("a wanted signature behind those of another party", () => {
  const unwanted: Record<string, (layer: (signer: Signer, by?: TestSigstore) => Layer) => readonly Layer[]> = {
    "with keys": (layer) => times(90, (i) => layer({ annotations: { number: String(i) } })),
    "by other identities of the same authority": (layer) =>
      times(80, (i) => layer({ identity: { ...identity, email: `other-${i}@example.org` } })),
    "by the same identity, of an authority of their own": (layer) => {
      const own = new TestSigstore();
      return times(80, () => layer({ identity }, own));
    },
    "which are copies of it with log entries that are not right": (layer) => {
      const { annotations, ...rest } = layer({ identity });
      const bundle = annotations["dev.sigstore.cosign/bundle"] ?? "";
      const spoiled = (i: number) => bundle.replace('"logIndex":7', `"logIndex":${i + 8}`);
      return times(80, (i) => ({
        ...rest,
        annotations: { ...annotations, "dev.sigstore.cosign/bundle": spoiled(i) },
      }));
    },
    "about other images, by the same signer": (layer) =>
      times(80, (i) =>
        layer(i % 2 === 0 ? { identity, aboutDigest: sha256(String(i)) } : { keys, aboutDigest: sha256("") }),
      ),
    "that are not signatures": () =>
      times(90, (i) => ({ mediaType: PAYLOAD, bytes: Buffer.from(String(i)), annotations: { [SIGNATURE]: "AAAA" } })),
  };
  for (const [name, make] of Object.entries(unwanted)) {
    test(`is found behind many ${name}`, async (context) => {
      const { layer, push, check } = await setUp(context);
      const others = make(layer);
      push([...others, layer({ keys }), layer({ identity })]);
      await check({ allOf: [wantedKey, wantedIdentity()] });
      push(others);
      await assert.rejects(check({ anyOf: { minimumMatches: 1, signatures: [wantedKey, wantedIdentity()] } }), {
        message: /needed 1, got 0/,
      });
    });
  }

  test("is found behind payloads that can't be had, and such as are too large together, which are not asked for", async (context) => {
    const { registry, tag, layer, push, check } = await setUp(context);
    const missing = layer({ annotations: { is: "missing" } });
    const wrong = layer({ annotations: { is: "wrong" } });
    const large = { mediaType: PAYLOAD, bytes: Buffer.alloc(64 * 1024), annotations: { [SIGNATURE]: "AAAA" } };
    push([missing, wrong, ...times(300, () => large), layer({ keys })]);
    registry.blobs.delete(sha256(missing.bytes));
    registry.blobs.set(sha256(wrong.bytes), Buffer.from("another"));
    await check({ allOf: [wantedKey] });
    assert.ok(registry.requests.some((request) => request.endsWith(sha256(missing.bytes))));
    assert.ok(!registry.requests.some((request) => request.endsWith(sha256(large.bytes))));
    push([layer({ keys })]);
    const artifact = JSON.parse(registry.manifests.get(`app:${tag}`)?.toString() ?? "") as {
      layers: { size: number }[];
    };
    const { size } = artifact.layers[0]!;
    const layers = [size - 1, 1, size + 1, 0, size].map((listed) => ({ ...artifact.layers[0], size: listed }));
    registry.manifests.set(`app:${tag}`, Buffer.from(JSON.stringify({ ...artifact, layers })));
    await check({ allOf: [wantedKey] });
  });

  test("is not found in an artifact of more than 4 MiB, or with more than 100,000 values", async (context) => {
    const { registry, tag, layer, push, check, pass } = await setUp(context);
    push([layer({ keys })]);
    const artifact = JSON.parse(registry.manifests.get(`app:${tag}`)?.toString() ?? "") as object;
    const put = (more: unknown) =>
      registry.manifests.set(`app:${tag}`, Buffer.from(JSON.stringify({ ...artifact, more })));
    for (const more of ["x".repeat(4 * 1024 * 1024), new Array(100_000).fill(0)]) {
      put(more);
      await assert.rejects(check({ allOf: [wantedKey] }), { shown: "it is too large" });
      pass(REFUSAL_KEPT_MS + 1);
    }
    registry.manifests.set(`app:${tag}`, Buffer.from('{"layers":['));
    await assert.rejects(check({ allOf: [wantedKey] }), { shown: "the artifact with the signatures is not JSON" });
    pass(REFUSAL_KEPT_MS + 1);
    put(new Array(90_000).fill(0));
    await check({ allOf: [wantedKey] });
  });
});

describe("a check of signatures", () => {
  const emails = times(20, (i) => `wanted-${i}@example.org`);
  const wanted = emails.map((email) => wantedIdentity(email));

  test("does not hold up others, nor do many together", { skip: !hasMainThreadTime() }, async (context) => {
    const { layer, push, check } = await setUp(context);
    const spoil = (annotations: Record<string, string>) => {
      const bundle = annotations["dev.sigstore.cosign/bundle"] ?? "";
      annotations["dev.sigstore.cosign/bundle"] = bundle.replace('"logIndex":7', '"logIndex":8');
    };
    push([
      ...times(64, () => layer({ identity })),
      ...times(20, (i) => layer({ identity: { ...identity, email: emails[i]! }, spoil })),
      ...times(50, (i) => layer({ annotations: { number: String(i) } })),
    ]);
    // Libraries are loaded, which is done once.
    await assert.rejects(check({ allOf: [wantedKey] }), MISSING);
    await assert.rejects(check({ allOf: [wantedIdentity("somebody@example.org")] }), MISSING);
    const ask = (i: number) =>
      assert.rejects(check({ allOf: [...wanted, wantedKey, wantedIdentity(`more-${i}@example.org`)] }), MISSING);
    const hold = await longestHold(async () => void (await Promise.all(times(8, ask))));
    assert.ok(hold < 50, `${hold} ms`);
  });

  test("reads who signed once for a signature, however many identities are looked for", async (context) => {
    const { layer, push, check, trustAsked } = await setUp(context);
    const uri = "https://git.example/team/repository";
    push(times(5, () => layer({ identity: { issuer: identity.issuer, uri }, withoutProof: true })));
    const prefixes = times(
      10,
      (i): WantedSignature => ({
        kind: "genericIssuer",
        issuer: identity.issuer,
        subject: { urlPrefix: "https://git.example/" },
        annotations: i === 0 ? {} : { absent: "x" },
      }),
    );
    await assert.rejects(
      check({ allOf: [...prefixes, ...prefixes.map(({ annotations: _, ...one }) => one)] }),
      MISSING,
    );
    assert.ok(trustAsked() <= 2 * 5, `${trustAsked()}`);
  });

  test("ends when its time is over", async (context) => {
    const over = new AbortController();
    const onTrust = () => over.abort();
    const { layer, push, check } = await setUp(context, undefined, onTrust);
    push(times(20, () => layer({ identity }, new TestSigstore())));
    const checked = check({ allOf: [wantedIdentity()] }, over.signal);
    await assert.rejects(checked, { message: "its signatures could not be checked in time", transient: true });
  });

  test("refuses again without looking, for some seconds; what it takes, it looks at each time", async (context) => {
    const { registry, tag, layer, push, check, pass } = await setUp(context);
    const looks = () => registry.requests.filter((request) => request.endsWith(tag)).length;
    const refused = (config: VerificationConfig) => assert.rejects(check(config), MISSING);
    push([layer({})]);
    await refused({ allOf: [wantedKey] });
    await refused({ allOf: [wantedKey] });
    assert.equal(looks(), 1);
    await refused({ allOf: [wantedIdentity()] });
    assert.equal(looks(), 2, "another question");
    push([layer({ keys })]);
    pass(REFUSAL_KEPT_MS + 1);
    for (const count of [3, 4]) {
      await check({ allOf: [wantedKey] });
      assert.equal(looks(), count);
    }
  });

  test("forgets the oldest refusal when there are many", async (context) => {
    const { registry, check } = await setUp(context, () => 0);
    const refused = (i: number) =>
      assert.rejects(check({ allOf: [wantedKey] }, undefined, sha256(String(i))), { message: /no signatures found/ });
    for (let i = 0; i <= MAX_REFUSALS; i++) await refused(i);
    const looks = () => registry.requests.filter((request) => request.endsWith(".sig")).length;
    const before = looks();
    await refused(MAX_REFUSALS);
    assert.equal(looks(), before);
    await refused(0);
    assert.equal(looks(), before + 1);
  });
});
