/** What guests may ask about images (spec kubewarden.md 7.2 and 7.4): digests, manifests, configurations, signatures. */
import { arch } from "node:process";
import { FetchError } from "./fetch-error.js";
import { formatImageReference, type ImageReference, parseImageReference } from "./image-reference.js";
import { MAX_ANSWER_BYTES } from "./limits.js";
import type { Manifest, RegistryClient } from "./registry-client.js";
import { readObject } from "./registry-connection.js";
import type { SignatureChecks } from "./signatures/signature-checks.js";
import type { WantedSignatures } from "./signatures/wanted-signature.js";

/** The names that images have for processors, where they differ from Node's. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64", ia32: "386" };

/** JSON of a registry. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Asks registries. Nothing is cached here. Images are named as Docker does: `busybox` is `docker.io/library/busybox:latest`. */
export class ImageInspector {
  readonly #registry: RegistryClient;
  readonly #signatures: SignatureChecks;

  constructor(registry: RegistryClient, signatures: SignatureChecks) {
    this.#registry = registry;
    this.#signatures = signatures;
  }

  /**
   * The digest that an image's name stands for now.
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
    const found = await this.#registry.manifest(reference, signal);
    const manifest = Array.isArray(found.content.manifests)
      ? await this.#registry.manifest(forThisPlatform(reference, found), signal)
      : found;
    const config = manifest.content.config as { mediaType?: unknown; digest?: unknown; size?: unknown } | undefined;
    if (typeof config?.digest !== "string" || !Number.isSafeInteger(config.size)) {
      throw new FetchError(`the manifest of ${formatImageReference(reference)} names no configuration`);
    }
    const descriptor = { mediaType: String(config.mediaType), digest: config.digest, size: config.size as number };
    const bytes = await this.#registry.blob(reference, descriptor, MAX_ANSWER_BYTES, signal);
    const content = readObject(bytes, `the configuration of ${formatImageReference(reference)}`);
    return { manifest: manifest.content, digest: manifest.digest, config: content };
  }

  /**
   * Checks signatures.
   * @returns the digest of the image that was verified
   * @throws FetchError in Kubewarden's words (spec kubewarden.md 1.8) when a wanted signature isn't there
   */
  async verify(image: string, wanted: WantedSignatures, signal: AbortSignal): Promise<string> {
    const reference = parseImageReference(image);
    const digest = reference.digest ?? (await this.#registry.manifest(reference, signal)).digest;
    await this.#signatures.check(wanted, { registry: this.#registry, image: reference, name: image, digest, signal });
    return digest;
  }
}

function forThisPlatform(reference: ImageReference, index: Manifest): ImageReference {
  const wanted = ARCHITECTURES[arch] ?? arch;
  const entry = (index.content.manifests as readonly unknown[]).find((one) => {
    const platform = (one as { platform?: { os?: unknown; architecture?: unknown } } | null)?.platform;
    return platform?.os === "linux" && platform.architecture === wanted;
  }) as { digest?: unknown } | undefined;
  if (typeof entry?.digest !== "string") {
    throw new FetchError(`${formatImageReference(reference)} has no image for linux/${wanted}`, {
      shown: `there is no image for linux/${wanted}`,
    });
  }
  // Checked like a reference that a person wrote: it becomes part of an address.
  return parseImageReference(`${reference.host}/${reference.repository}@${entry.digest}`);
}
