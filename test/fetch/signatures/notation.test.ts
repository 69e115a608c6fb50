import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, test } from "node:test";
import { MAX_ARTIFACT_BYTES, MAX_ARTIFACT_VALUES, MAX_ARTIFACTS } from "../../../src/fetch/artifacts.js";
import { FetchError } from "../../../src/fetch/fetch-error.js";
import { ImageTrustReader } from "../../../src/fetch/image-trust.js";
import type { Descriptor, Registry } from "../../../src/fetch/registry.js";
import type { AttestorVerdict, NotaryAttestor, Sought } from "../../../src/fetch/signatures/attestor.js";
import { MAX_SIGNATURE_ATTEMPTS, notaryVerdict } from "../../../src/fetch/signatures/notation.js";
import { MAX_TRUSTED_CERTIFICATES } from "../../../src/fetch/signatures/notation-certificates.js";
import { SignatureChecks } from "../../../src/fetch/signatures/signature-checks.js";
import { MAX_CERTIFICATES } from "../../../src/fetch/signatures/timestamp-token.js";
import { CHAINS, ENVELOPES, type NotationCase, TIMESTAMPS, TRUSTED } from "./notation-cases.js";
import { certificate, envelope, pemOf } from "./test-notary.js";

const JWS = "application/jose+json";
const SIGNATURE = "application/vnd.cncf.notary.signature";
const MANIFEST = "application/vnd.oci.image.manifest.v1+json";
const SBOM = "application/vnd.cyclonedx+json";
const digestOf = (bytes: Buffer): string => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
const signal = new AbortController().signal;

/** A registry of one repository, in memory. */
class Memory implements Registry {
  readonly blobs = new Map<string, Buffer | FetchError>();
  readonly lists = new Map<string, (readonly Descriptor[])[]>();

  /** Adds a manifest that refers to another one, unless told otherwise. */
  add(content: object, subject?: Descriptor, listed: Partial<Descriptor> = {}): Descriptor {
    const bytes = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: MANIFEST, subject, ...content }));
    const descriptor = { mediaType: MANIFEST, digest: digestOf(bytes), size: bytes.length };
    this.blobs.set(descriptor.digest, bytes);
    const { artifactType } = content as Partial<Descriptor>;
    const entry = { ...descriptor, ...(artifactType && { artifactType }), ...listed };
    if (subject !== undefined) this.lists.set(subject.digest, [...(this.lists.get(subject.digest) ?? []), [entry]]);
    return descriptor;
  }

  layer(content: string | Buffer, mediaType: string): Descriptor {
    const bytes = Buffer.from(content);
    this.blobs.set(digestOf(bytes), bytes);
    return { mediaType, digest: digestOf(bytes), size: bytes.length };
  }

  artifact(subject: Descriptor, artifactType: string, content: string | Buffer, mediaType = artifactType): Descriptor {
    return this.add({ artifactType, layers: [this.layer(content, mediaType)] }, subject);
  }

  sign(subject: Descriptor, content: string | Buffer, mediaType = JWS): Descriptor {
    return this.artifact(subject, SIGNATURE, content, mediaType);
  }

  async manifest({ digest }: { readonly digest?: string }) {
    const bytes = this.#read(digest ?? "");
    return { digest: digest ?? "", bytes, content: JSON.parse(bytes.toString()) as Record<string, unknown> };
  }

  async blob(_: unknown, { digest, size }: Descriptor, most: number): Promise<Buffer> {
    if (size > most) throw new FetchError("large", { shown: "it is too large" });
    return this.#read(digest);
  }

  async *referrers(_: unknown, digest: string) {
    yield* this.lists.get(digest) ?? [];
  }

  #read(digest: string): Buffer {
    const bytes = this.blobs.get(digest) ?? new FetchError("none", { status: 404 });
    if (bytes instanceof FetchError) throw bytes;
    return bytes;
  }
}

const root = certificate({ name: "root", authority: true });
const leaf = certificate({ name: "leaf", issuer: root });
const stranger = certificate({ name: "stranger" });
const own: NotaryAttestor = { certs: pemOf(root) };
const payloadOf = ({ mediaType, digest, size }: Descriptor) => ({ targetArtifact: { mediaType, digest, size } });
const right = (target: Descriptor): string => envelope({ chain: [leaf, root], payload: payloadOf(target) });
const wrong = (target: Descriptor): string => envelope({ chain: [stranger], payload: payloadOf(target) });

function start() {
  const registry = new Memory();
  const image = registry.add({ layers: [] });
  const verdict = (sought: Sought = { kind: "signature" }, attestor = own, now?: number): Promise<AttestorVerdict> =>
    notaryVerdict(attestor, sought, { registry, image: IMAGE, digest: image.digest, signal }, now);
  return { registry, image, verdict };
}

const IMAGE = { host: "registry.example", repository: "team/app" };
const attested: Sought = { kind: "referrer", artifactType: SBOM };
const withoutDigests = ({ reasons }: AttestorVerdict) => reasons.map((one) => one.replace(/sha256:\w+/g, "D"));

/** The verdict of a case: its envelope is about a manifest that the registry says to have. */
async function verdictOf({ make, mediaType, certs = TRUSTED, tsaCerts }: NotationCase): Promise<AttestorVerdict> {
  const { registry } = start();
  const digest = `sha256:${"ab".repeat(32)}`;
  registry.sign({ mediaType: MANIFEST, digest, size: 528 }, make(), mediaType);
  registry.blobs.set(digest, Buffer.from(`{"mediaType":"${MANIFEST}"}`.padEnd(528)));
  const attestor = { certs, ...(tsaCerts !== undefined && { tsaCerts }) };
  return notaryVerdict(attestor, { kind: "signature" }, { registry, image: IMAGE, digest, signal });
}

for (const [name, cases] of Object.entries({ envelopes: ENVELOPES, chains: CHAINS, timestamps: TIMESTAMPS })) {
  describe(`${name} of Notary Project signatures`, () => {
    for (const one of cases) {
      test(`${one.name}: ${one.reason === undefined ? "counts" : "does not count"}`, async () => {
        const { verified, reasons } = await verdictOf(one);
        assert.equal(verified, one.reason === undefined, reasons.join());
        assert.equal(reasons.length, one.reason === undefined ? 0 : 1);
        if (one.reason !== undefined) assert.match(reasons[0] ?? "", one.reason);
      });
    }
  });
}

describe("signatures of an image", () => {
  test("one that counts is enough, behind others that do not, which have a reason each", async () => {
    const { registry, image, verdict } = start();
    registry.sign(image, wrong(image));
    registry.add({ artifactType: SIGNATURE, layers: [] }, image);
    registry.add({ artifactType: SIGNATURE, layers: [registry.layer("a", JWS), registry.layer("b", JWS)] }, image);
    registry.sign(image, Buffer.alloc(200_000, " "));
    assert.deepEqual(withoutDigests(await verdict()), [
      "signature D: its certificates are not among the attestor's, nor issued by them",
      "signature D: an artifact must have one layer",
      "signature D: an artifact must have one layer",
      "signature D: it is too large",
    ]);
    // Whether the image is signed by one that is not there is not known.
    registry.lists
      .get(image.digest)
      ?.push([{ ...image, digest: digestOf(Buffer.from("gone")), artifactType: SIGNATURE }]);
    await assert.rejects(verdict(), /a listed signature can't be had/);
    registry.sign(image, right(image));
    assert.deepEqual(await verdict(), { verified: true, reasons: [] });
  });

  test("no more than the first ones are looked at", async () => {
    const { registry, image, verdict } = start();
    for (let i = 1; i < MAX_SIGNATURE_ATTEMPTS; i++) registry.sign(image, `${wrong(image)}${" ".repeat(i)}`);
    registry.sign(image, right(image));
    assert.equal((await verdict()).verified, true);
    registry.lists.get(image.digest)?.unshift(registry.lists.get(image.digest)![0]!);
    await assert.rejects(verdict(), /none of 10 signatures counts, and 1 more are not looked at/);
  });

  test("none is a reason, and so is one that refers to another image or has another type than its list says", async () => {
    const { registry, image, verdict } = start();
    assert.deepEqual((await verdict()).reasons, ["it has no signature of the Notary project"]);
    const other = registry.add({ layers: [], annotations: { other: "1" } });
    registry.sign(other, right(image));
    registry.lists.set(image.digest, registry.lists.get(other.digest)!);
    registry.add({ artifactType: SBOM, layers: [registry.layer(right(image), JWS)] }, image, {
      artifactType: SIGNATURE,
    });
    assert.deepEqual(withoutDigests(await verdict()), [
      "signature D: it refers to another manifest",
      "signature D: it has another type than its list says",
    ]);
  });

  test("an index and an image without a type of their own are signed by OCI's type", async () => {
    for (const [content, mediaType] of [
      [{ manifests: [] }, "application/vnd.oci.image.index.v1+json"],
      [{ layers: [] }, MANIFEST],
    ] as const) {
      const { registry } = start();
      const signed = { ...registry.add({ mediaType: undefined, ...content }), mediaType };
      registry.sign(signed, right(signed));
      const about = { registry, image: IMAGE, digest: signed.digest, signal };
      assert.equal((await notaryVerdict(own, { kind: "signature" }, about)).verified, true);
    }
  });

  test("the time is that of the question", async () => {
    const { registry, image, verdict } = start();
    registry.sign(image, right(image));
    const late = await verdict({ kind: "signature" }, own, Date.parse("2100-01-01T00:00:00Z"));
    assert.deepEqual(withoutDigests(late), ['signature D: its certificate "leaf" is not valid now']);
  });

  test("chains and attestors have limits", async () => {
    const { registry, image, verdict } = start();
    registry.sign(image, envelope({ chain: Array.from({ length: MAX_CERTIFICATES + 1 }, () => leaf) }));
    assert.deepEqual(withoutDigests(await verdict()), ["signature D: it has more than 10 certificates"]);
    const many = pemOf(...Array.from({ length: MAX_TRUSTED_CERTIFICATES + 1 }, () => root));
    const { reasons } = await verdict({ kind: "signature" }, { certs: many });
    assert.deepEqual(reasons, ["the attestor's certificates can't be used: there are more than 100 certificates"]);
  });

  test("a registry that can't or won't answer is an error", async () => {
    for (const status of [401, 403, 429, 500, 503]) {
      const { registry, image, verdict } = start();
      registry.sign(image, wrong(image));
      const signature = registry.sign(image, right(image));
      registry.blobs.set(signature.digest, new FetchError("no", { status }));
      await assert.rejects(verdict(), { status });
    }
    const { registry, image, verdict } = start();
    registry.blobs.delete(image.digest);
    await assert.rejects(verdict(), { status: 404 });
  });

  test("too many artifacts of any type are an error, and lists without an end", async () => {
    const { registry, image, verdict } = start();
    registry.sign(image, right(image));
    const list = Array.from({ length: MAX_ARTIFACTS - 1 }, () => ({ ...image, artifactType: "other" }));
    registry.lists.get(image.digest)?.push(list);
    assert.equal((await verdict()).verified, true);
    registry.lists.get(image.digest)?.push([image]);
    await assert.rejects(verdict(), { shown: "more than 50 artifacts refer to it" });
    registry.lists.set(
      image.digest,
      Array.from({ length: 30 }, () => []),
    );
    await assert.rejects(verdict(), { shown: "more than 50 artifacts refer to it" });
  });
});

describe("signed artifacts that refer to an image", () => {
  test("the first one that is signed counts, with its content", async () => {
    const { registry, image, verdict } = start();
    registry.artifact(image, SBOM, '{"n":1}');
    const second = registry.artifact(image, SBOM, '{"n":2}');
    const third = registry.artifact(image, SBOM, '{"n":3}');
    registry.sign(image, right(image));
    assert.deepEqual(withoutDigests(await verdict(attested)), [
      "artifact D: it has no signature of the Notary project",
      "artifact D: it has no signature of the Notary project",
      "artifact D: it has no signature of the Notary project",
    ]);
    registry.sign(second, wrong(second));
    registry.sign(third, right(third));
    assert.deepEqual(await verdict(attested), { verified: true, reasons: [], payload: { n: 3 } });
    registry.sign(second, right(second));
    assert.deepEqual((await verdict(attested)).payload, { n: 2 });
    const none = await verdict({ kind: "referrer", artifactType: "text/plain" });
    assert.deepEqual(none.reasons, ["no artifact of type text/plain refers to the image"]);
  });

  test("one of another image, or of another type, does not count, although it is signed", async () => {
    const { registry, image, verdict } = start();
    const other = registry.add({ layers: [], annotations: { other: "1" } });
    const artifact = registry.artifact(other, SBOM, "{}");
    const typed = registry.add({ artifactType: "text/plain", layers: [] }, image, { artifactType: SBOM });
    for (const one of [artifact, typed]) registry.sign(one, right(one));
    registry.lists.get(image.digest)?.push(...registry.lists.get(other.digest)!);
    assert.deepEqual(withoutDigests(await verdict(attested)), [
      "artifact D is signed, but it has another type than its list says",
      "artifact D is signed, but it refers to another manifest",
    ]);
  });

  test("one whose content is not JSON or too large does not count", async () => {
    const { registry, image, verdict } = start();
    const contents = [
      "text",
      "x".repeat(300_000),
      "[".repeat(MAX_ARTIFACT_VALUES * 2 + 1),
      `"${"x".repeat(MAX_ARTIFACT_BYTES)}"`,
    ];
    for (const content of contents) {
      const artifact = registry.artifact(image, SBOM, content);
      registry.sign(artifact, right(artifact));
    }
    assert.deepEqual(withoutDigests(await verdict(attested)), [
      "artifact D is signed, but its content is not JSON",
      "artifact D is signed, but its content is not JSON, or has a string of more than 256 KiB",
      "artifact D is signed, but its content has more than 1000000 values",
      "artifact D is signed, but it is too large",
    ]);
  });

  test("in-toto statements are an error", async () => {
    await assert.rejects(start().verdict({ kind: "intoto", predicateType: "https://slsa.dev/provenance/v1" }), {
      shown: "notary verifier only supports oci 1.1 referrers as attestations",
    });
  });
});

describe("the content of an artifact", () => {
  const noRoot = async () => assert.fail("nothing is verified");
  const read = ({ registry, image }: Pick<ReturnType<typeof start>, "registry" | "image">) =>
    new ImageTrustReader(registry, new SignatureChecks(noRoot, performance.now)).artifact(
      "registry.example/team/app:v1",
      image.digest,
      SBOM,
      signal,
    );

  test("is that of the first one of the type, signed or not", async () => {
    const { registry, image } = start();
    registry.artifact(image, "text/plain", "text");
    registry.artifact(image, SBOM, '{"n":1,"big":12345678901234567890.5}');
    registry.artifact(image, SBOM, '{"n":2}');
    assert.deepEqual(await read({ registry, image }), { n: 1, big: 12345678901234567000 });
  });

  test("none is an error, and so is one without JSON", async () => {
    const { registry, image } = start();
    await assert.rejects(read({ registry, image }), { shown: `artifact of type ${SBOM} not found` });
    registry.artifact(image, SBOM, "<bom/>");
    await assert.rejects(read({ registry, image }), { shown: "its content is not JSON" });
  });

  test("a large one is read in turns with other work", async () => {
    const { registry, image } = start();
    const components = Array.from({ length: 90_000 }, (_, n) => ({
      name: `component ${n}`,
      version: `1.0.${n}`,
      licenses: [{}],
    }));
    const content = { components };
    registry.artifact(image, SBOM, JSON.stringify(content));
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    const found = (await read({ registry, image }).finally(() => clearInterval(timer))) as typeof content;
    assert.equal(found.components.length, 90_000);
    assert.ok(turns > 5, `${turns} turns`);
  });
});
