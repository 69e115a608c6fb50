/** Answers guests' questions about images (spec kubewarden.md 7.2 and 7.4): digests, manifests, configurations, signatures. */
import { arch } from "node:process";
import { FetchError } from "./fetch-error.js";
import { formatImageReference, type ImageReference, parseImageReference } from "./image-reference.js";
import { MAX_ANSWER_BYTES } from "./limits.js";
import type { Manifest, Registry } from "./registry.js";
import { readObject } from "./registry-connection.js";
import type { SignatureChecks } from "./signatures/signature-checks.js";
import type { WantedSignatures } from "./signatures/wanted-signature.js";

/** The names that images have for processors, where they differ from Node's. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64", ia32: "386" };

/** JSON of a registry. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Reads images in registries, without a cache. Images have Docker's names: `busybox` is `docker.io/library/busybox:latest`. */
export class ImageInspector {
  readonly #registry: Registry;
  readonly #signatures: SignatureChecks;

  constructor(registry: Registry, signatures: SignatureChecks) {
    this.#registry = registry;
    this.#signatures = signatures;
  }

  /**
   * The current digest of an image's name.
   * @throws FetchError
   */
  async digest(image: string, signal: AbortSignal): Promise<string> {
    return (await this.#registry.manifest(parseImageReference(image), signal)).digest;
  }

  /**
   * The manifest, or the index of an image for several platforms.
   * @throws FetchError
   */
  async manifest(image: string, signal: AbortSignal): Promise<JsonObject> {
    return (await this.#registry.manifest(parseImageReference(image), signal)).content;
  }

  /**
   * The manifest with its configuration; of an index, those for this server's platform.
   * @throws FetchError
   */
  async manifestAndConfig(image: string, signal: AbortSignal) {
    const reference = parseImageReference(image);
    const wanted = ARCHITECTURES[arch] ?? arch;
    const found = await this.#registry.manifest(reference, signal);
    const fits = (platform: Platform | null | undefined) =>
      platform?.os === "linux" && platform.architecture === wanted;
    const child = childOf(reference, found, fits);
    if (child === undefined)
      throw new FetchError(`${formatImageReference(reference)} has no image for linux/${wanted}`, {
        shown: `there is no image for linux/${wanted}`,
      });
    const manifest = child === reference ? found : await this.#registry.manifest(child, signal);
    const content = await configOf(this.#registry, reference, manifest, signal);
    return { manifest: manifest.content, digest: manifest.digest, config: content };
  }

  /**
   * Checks signatures.
   * @returns the digest of the image that was verified
   * @throws FetchError in Kubewarden's words (spec kubewarden.md 1.8) when a required signature is missing
   */
  async verify(image: string, wanted: WantedSignatures, signal: AbortSignal): Promise<string> {
    const reference = parseImageReference(image);
    const digest = reference.digest ?? (await this.#registry.manifest(reference, signal)).digest;
    await this.#signatures.check(wanted, { registry: this.#registry, image: reference, name: image, digest, signal });
    return digest;
  }
}

/** The platform of an index's image. */
export interface Platform {
  readonly os?: unknown;
  readonly architecture?: unknown;
}

/** The first matching image of an index; the reference itself for a manifest that is not an index; undefined when none matches. */
export function childOf(
  reference: ImageReference,
  { content: { manifests } }: Manifest,
  fits: (platform: Platform | null | undefined) => boolean,
): ImageReference | undefined {
  if (!Array.isArray(manifests)) return reference;
  type Entry = { readonly platform?: Platform | null; readonly digest?: unknown } | null;
  const entry = (manifests as readonly Entry[]).find((one) => fits(one?.platform));
  if (typeof entry?.digest !== "string") return undefined;
  // Checked like a user's reference: it becomes part of an address.
  return parseImageReference(`${reference.host}/${reference.repository}@${entry.digest}`);
}

/**
 * Reads the configuration of a manifest.
 * @throws FetchError
 */
export async function configOf(
  registry: Registry,
  reference: ImageReference,
  { content }: Manifest,
  signal: AbortSignal,
): Promise<JsonObject> {
  const name = formatImageReference(reference);
  const { digest, size } = (content.config ?? {}) as { readonly digest?: unknown; readonly size?: unknown };
  if (typeof digest !== "string" || !Number.isSafeInteger(size)) {
    const shown = "the manifest names no configuration";
    throw new FetchError(`the manifest of ${name} names no configuration`, { shown });
  }
  const descriptor = { mediaType: "", digest, size: size as number };
  const bytes = await registry.blob(reference, descriptor, MAX_ANSWER_BYTES, signal);
  return readObject(bytes, `the configuration of ${name}`);
}
