import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { join } from "node:path";
import { arch } from "node:process";
import { describe, type TestContext, test } from "node:test";
import { ImageInspector } from "../../src/fetch/image-inspector.js";
import { sigstoreTrustRoot } from "../../src/fetch/signatures/trust-root.js";
import type { WantedSignatures } from "../../src/fetch/signatures/wanted-signature.js";
import { type Certificate, newCertificate, newKeys } from "./certificates.js";
import { checksWith, failureOf, fetcher, folder, insecure } from "./helpers.js";
import { type Signer, TestSigstore } from "./signatures/test-sigstore.js";
import { sha256, TestRegistry } from "./test-registry.js";

const sigstore = new TestSigstore();
const signal = () => AbortSignal.timeout(600_000);

async function setUp(context: TestContext) {
  const registry = await TestRegistry.start(context);
  const trustConfig = join(folder(context, { "trust.json": sigstore.trustConfig() }), "trust.json");
  const client = fetcher(context, { sources: insecure(registry.host) }).registry;
  const images = new ImageInspector(
    client,
    checksWith(sigstoreTrustRoot({ trustConfig, cacheDirectory: "/nonexistent" })),
  );
  return { registry, images };
}

describe("questions about images", () => {
  test("digest, manifest and configuration are the registry's", async (context) => {
    const { registry, images } = await setUp(context);
    const digest = registry.push("app", "v1", [{ mediaType: "text/plain", bytes: Buffer.from("layer") }]);
    const image = `${registry.host}/app:v1`;
    assert.equal(await images.digest(image, signal()), digest);
    const manifest = JSON.parse(registry.manifests.get("app:v1")!.toString());
    assert.deepEqual(await images.manifest(image, signal()), manifest);
    assert.deepEqual(await images.manifestAndConfig(image, signal()), { manifest, digest, config: {} });
  });

  const filled = (members: object, size: number) => Buffer.from(JSON.stringify({ ...members, a: "x".repeat(size) }));
  const crowded = (members: object) => Buffer.from(JSON.stringify({ ...members, a: new Array(10_000).fill(0) }));

  test("an answer has at most 256 KiB and 10,000 values; for a digest the values are not read", async (context) => {
    const { registry, images } = await setUp(context);
    registry.push("app", "v1", []);
    const manifest = JSON.parse(registry.manifests.get("app:v1")!.toString()) as { config: object };
    const put = (tag: string, bytes: Buffer) => registry.manifests.set(`app:${tag}`, bytes);
    const ask = (tag: string) => images.manifestAndConfig(`${registry.host}/app:${tag}`, signal());
    const withConfig = (tag: string, bytes: Buffer) => {
      registry.blobs.set(sha256(bytes), bytes);
      put(tag, filled({ config: { ...manifest.config, digest: sha256(bytes), size: bytes.length } }, 0));
    };
    put("large", filled(manifest, 256 * 1024 - 1_000));
    assert.equal((await ask("large")).digest, sha256(registry.manifests.get("app:large")!));
    put("larger", filled(manifest, 256 * 1024));
    put("crowded", crowded(manifest));
    withConfig("large-config", filled({}, 256 * 1024 - 1_000));
    assert.ok(await ask("large-config"));
    withConfig("larger-config", filled({}, 256 * 1024));
    withConfig("crowded-config", crowded({}));
    for (const tag of ["larger", "crowded", "larger-config", "crowded-config"])
      await assert.rejects(ask(tag), { shown: "it is too large" }, tag);
    await assert.rejects(images.manifest(`${registry.host}/app:crowded`, signal()), { shown: "it is too large" });
    await assert.rejects(images.digest(`${registry.host}/app:larger`, signal()), { shown: "it is too large" });
    for (const bytes of [crowded({}), Buffer.from("<html>")]) {
      put("unread", bytes);
      assert.equal(await images.digest(`${registry.host}/app:unread`, signal()), sha256(bytes));
    }
  });

  test("of an index, the configuration is that of this platform", async (context) => {
    const { registry, images } = await setUp(context);
    const digest = registry.push("app", "own", [{ mediaType: "text/plain", bytes: Buffer.from("layer") }]);
    const architecture = arch === "x64" ? "amd64" : arch;
    const index = {
      schemaVersion: 2,
      manifests: [
        { digest: sha256("other"), platform: { os: "windows", architecture } },
        { digest, platform: { os: "linux", architecture } },
      ],
    };
    registry.manifests.set("app:v1", Buffer.from(JSON.stringify(index)));
    const image = `${registry.host}/app:v1`;
    assert.deepEqual(await images.manifest(image, signal()), index);
    assert.equal((await images.manifestAndConfig(image, signal())).digest, digest);
    registry.manifests.set("app:v1", Buffer.from(JSON.stringify({ manifests: [] })));
    assert.match(await failureOf(images.manifestAndConfig(image, signal())), /has no image for linux\//);
  });
});

test("an image without signatures is named as it was asked for", async (context) => {
  const { registry, images } = await setUp(context);
  registry.push("app", "latest", []);
  const wanted = {
    allOf: [{ kind: "pubKey" as const, key: newKeys().publicKey.export({ type: "spki", format: "pem" }).toString() }],
  };
  assert.match(
    await failureOf(images.verify(`${registry.host}/app`, wanted, signal())),
    /: no signatures found for image: localhost:\d+\/app $/,
  );
});

describe("signatures with certificates", () => {
  const root = newCertificate({ name: "root", authority: true });
  const intermediate = newCertificate({ name: "intermediate", authority: true, issuer: root });
  const signing = { codeSigning: true, email: "signer@example.org" };
  const leaf = newCertificate({ name: "leaf", issuer: intermediate, ...signing });
  const x509 = ({ pem }: Certificate) => new X509Certificate(pem);
  const day = 86_400_000;
  const expired = newCertificate({
    name: "expired",
    issuer: intermediate,
    ...signing,
    from: new Date(Date.now() - 9 * day),
    until: new Date(Date.now() - 5 * day),
  });
  const notAuthority = newCertificate({ name: "no authority", issuer: root });
  const belowNoAuthority = newCertificate({ name: "below", issuer: notAuthority, ...signing });
  const chain = [x509(intermediate), x509(root)];
  // As sigstore-rs' certificate_verifier.rs has it: digital signature, code signing, a name, and a beginning that has come.
  const unfit: Record<string, [Certificate, RegExp]> = {
    "of a server": [
      newCertificate({ name: "server", issuer: intermediate, hosts: ["registry.example"] }),
      /code signing extended key usage/,
    ],
    "of a server, for servers": [
      newCertificate({
        ...{ name: "server", issuer: intermediate, hosts: ["registry.example"] },
        extensions: { "2.5.29.37": Buffer.from("300a06082b06010505070301", "hex") },
      }),
      /code signing extended key usage/,
    ],
    "for any use": [
      newCertificate({
        ...{ name: "any", issuer: intermediate, email: "any@example.org" },
        extensions: { "2.5.29.37": Buffer.from("30060604551d2500", "hex") },
      }),
      /code signing extended key usage/,
    ],
    "of an authority": [
      newCertificate({ name: "authority", issuer: root, authority: true, ...signing }),
      /digital signature key usage/,
    ],
    "without a name": [
      newCertificate({ name: "nameless", issuer: intermediate, codeSigning: true }),
      /without Subject Alternative Name/,
    ],
    "of tomorrow": [
      newCertificate({
        ...{ name: "tomorrow", issuer: intermediate, ...signing },
        from: new Date(Date.now() + 86_400_000),
        until: new Date(Date.now() + 2 * 86_400_000),
      }),
      /not valid yet/,
    ],
  };
  const wanted = (certificate: Certificate, others: object = {}): WantedSignatures => ({
    allOf: [{ kind: "certificate", certificate: x509(certificate), chain, requireLogEntry: false, ...others }],
  });
  const verify = async (context: TestContext, signers: readonly Signer[], signatures: WantedSignatures) => {
    const { registry, images } = await setUp(context);
    const digest = registry.push("app", "v1", []);
    sigstore.sign(registry, "app", digest, signers);
    assert.equal(await images.verify(`${registry.host}/app:v1`, signatures, signal()), digest);
  };

  const good: Record<string, [Signer[], WantedSignatures]> = {
    "with its chain": [[{ keys: leaf }], wanted(leaf)],
    "trusted by itself": [
      [{ keys: leaf }],
      { allOf: [{ kind: "certificate", certificate: x509(leaf), requireLogEntry: false }] },
    ],
    "with a log entry": [[{ keys: leaf, log: true }], wanted(leaf, { requireLogEntry: true })],
    "expired, with a log entry from before": [
      [{ keys: expired, log: true, time: Math.floor((Date.now() - 7 * day) / 1000) }],
      { allOf: [{ kind: "certificate", certificate: x509(expired), requireLogEntry: true }] },
    ],
  };
  for (const [name, [signers, signatures]] of Object.entries(good)) {
    test(`a certificate ${name} counts`, (context) => verify(context, signers, signatures));
  }

  for (const [name, [certificate, expected]] of Object.entries(unfit)) {
    test(`a certificate ${name} is refused, with a log entry or without one`, async (context) => {
      for (const log of [false, true]) {
        for (const others of [{}, { chain: undefined }]) {
          const refusal = failureOf(verify(context, [{ keys: certificate, log }], wanted(certificate, others)));
          assert.match(await refusal, expected);
        }
      }
    });
  }

  const bad: Record<string, [Signer[], WantedSignatures]> = {
    "another key": [[{ keys: newKeys() }], wanted(leaf)],
    "a chain that doesn't lead to its root": [[{ keys: leaf }], wanted(leaf, { chain: [x509(root)] })],
    "an empty chain": [[{ keys: leaf }], wanted(leaf, { chain: [] })],
    "an issuer that is no authority": [
      [{ keys: belowNoAuthority }],
      wanted(belowNoAuthority, { chain: [x509(notAuthority), x509(root)] }),
    ],
    "an expired certificate": [
      [{ keys: expired }],
      { allOf: [{ kind: "certificate", certificate: x509(expired), requireLogEntry: false }] },
    ],
    "a missing log entry": [[{ keys: leaf }], wanted(leaf, { requireLogEntry: true })],
  };
  for (const [name, [signers, signatures]] of Object.entries(bad)) {
    test(`${name} doesn't`, async (context) => {
      assert.match(
        await failureOf(verify(context, signers, signatures)),
        /missing signatures\n.*\n- kind: certificate/,
      );
    });
  }
});
