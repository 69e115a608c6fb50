/** The golden images (test/fixtures/images), and registries in memory that serve damaged copies of their signatures. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { FetchError } from "../../../src/fetch/fetch-error.js";
import { openImageLayouts } from "../../../src/fetch/image-layout.js";
import type { ImageReference } from "../../../src/fetch/image-reference.js";
import type { Descriptor, Manifest, Registry } from "../../../src/fetch/registry.js";
import type { CosignAttestor, Sought } from "../../../src/fetch/signatures/attestor.js";
import { attestorVerdict } from "../../../src/fetch/signatures/attestor-verdict.js";
import { SignatureChecks } from "../../../src/fetch/signatures/signature-checks.js";
import { sigstoreTrustRoot } from "../../../src/fetch/signatures/trust-root.js";
import { sha256 } from "../test-registry.js";

const GOLDEN = fileURLToPath(new URL("../../../../test/fixtures/images", import.meta.url));
export const golden: Registry = openImageLayouts([GOLDEN]);
/** A file beside the layout. */
export const goldenFile = (name: string): string => readFileSync(join(GOLDEN, name), "utf8");
/** Checks that trust the makers of the golden images. */
export const goldenChecks = new SignatureChecks(
  sigstoreTrustRoot({ trustConfig: join(GOLDEN, "trust.json"), cacheDirectory: "/nonexistent" }),
  () => performance.now(),
);

/** A golden image and its digest, by the name in the layout without host. */
export function goldenImage(name: string): { readonly image: ImageReference; readonly digest: string } {
  const { manifests } = JSON.parse(goldenFile("index.json")) as { manifests: Descriptor[] };
  const full = `localhost:5055/${name}`;
  const found = manifests.find(({ annotations }) => annotations?.["org.opencontainers.image.ref.name"] === full);
  if (found === undefined) throw new Error(`no golden image ${name}`);
  const [host = "", ...path] = full.slice(0, full.lastIndexOf(":")).split("/");
  return { image: { host, repository: path.join("/") }, digest: found.digest };
}

/** A layer of an artifact. */
export interface Layer {
  readonly mediaType: string;
  readonly bytes: Buffer;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A registry in memory. */
export class Shelf implements Registry {
  readonly #blobs = new Map<string, Buffer>();
  readonly #manifests = new Map<string, Buffer>();
  readonly #referrers = new Map<string, Descriptor[]>();

  /** Puts an artifact there, below a tag or as one that refers to a digest. */
  put(place: { readonly tag: string } | { readonly subject: string }, layers: readonly Layer[]): void {
    for (const { bytes } of layers) this.#blobs.set(sha256(bytes), bytes);
    const described = layers.map(({ bytes, ...rest }) => ({ ...rest, digest: sha256(bytes), size: bytes.length }));
    const manifest = Buffer.from(JSON.stringify({ schemaVersion: 2, layers: described }));
    const digest = sha256(manifest);
    this.#manifests.set(digest, manifest);
    if ("tag" in place) this.#manifests.set(place.tag, manifest);
    else {
      const list = this.#referrers.get(place.subject) ?? [];
      list.push({ mediaType: "application/vnd.oci.image.manifest.v1+json", digest, size: manifest.length });
      this.#referrers.set(place.subject, list);
    }
  }

  async manifest({ tag = "latest", digest = tag }: ImageReference): Promise<Manifest> {
    const bytes = this.#manifests.get(digest);
    if (bytes === undefined) throw new FetchError("not there", { status: 404 });
    return { digest: sha256(bytes), bytes, content: JSON.parse(bytes.toString()) };
  }

  async blob(_image: ImageReference, { digest, size }: Descriptor): Promise<Buffer> {
    const bytes = this.#blobs.get(digest);
    if (bytes?.length !== size) throw new FetchError("not there", { status: 404 });
    return bytes;
  }

  async *referrers(_image: ImageReference, digest: string): AsyncGenerator<readonly Descriptor[]> {
    yield this.#referrers.get(digest) ?? [];
  }
}

/** The verdict of a cosign attestor. */
export const verdictOf = (
  cosign: CosignAttestor,
  about: { readonly image: ImageReference; readonly digest: string },
  registry: Registry = golden,
  sought: Sought = { kind: "signature" },
  checks = goldenChecks,
  signal = AbortSignal.timeout(60_000),
) => attestorVerdict({ name: "signer", cosign }, sought, { registry, ...about, signal }, checks);

const signal = new AbortController().signal;

/** The bundles of a golden image, as texts. */
export async function goldenBundles(name: string): Promise<readonly string[]> {
  const { image, digest } = goldenImage(name);
  const texts: string[] = [];
  for await (const list of golden.referrers(image, digest, signal)) {
    for (const { digest: of } of list) {
      const [layer] = (await golden.manifest({ ...image, digest: of }, signal)).content.layers as Descriptor[];
      texts.push((await golden.blob(image, layer!, 1e9, signal)).toString());
    }
  }
  return texts;
}

/** The layers of a golden image's old signatures, or attestations. */
export async function goldenLayers(name: string, suffix: "sig" | "att"): Promise<readonly Layer[]> {
  const { image, digest } = goldenImage(name);
  const tag = `${digest.replace(":", "-")}.${suffix}`;
  const layers = (await golden.manifest({ ...image, tag }, signal)).content.layers as Descriptor[];
  return Promise.all(layers.map(async (layer) => ({ ...layer, bytes: await golden.blob(image, layer, 1e9, signal) })));
}
