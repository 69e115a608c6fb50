/** What Kyverno's expressions are told of an image (spec kyverno.md 4.5): names, manifest, configuration. */
import { FetchError, shownOf } from "./fetch-error.js";
import type { JsonObject } from "./image-inspector.js";
import { type ImageReference, isDockerHub, parseImageReference } from "./image-reference.js";
import { shapedConfig, shapedManifest } from "./image-shape.js";
import { MAX_ANSWER_BYTES } from "./limits.js";
import type { Manifest, RegistryClient } from "./registry-client.js";
import { readObject } from "./registry-connection.js";

/** Which image of several: the reference's choice, wherever it runs. */
const PLATFORM = { os: "linux", architecture: "amd64" };

/** Asks registries. Nothing is kept here. */
export class ImageMetadata {
  readonly #registry: RegistryClient;

  constructor(registry: RegistryClient) {
    this.#registry = registry;
  }

  /**
   * @param image as written
   * @throws FetchError
   */
  async read(image: string, signal: AbortSignal): Promise<JsonObject> {
    const reference = parse(image);
    const found = await this.#registry.manifest(reference, signal);
    const { manifests } = found.content;
    const index = Array.isArray(manifests) ? found.content : undefined;
    const manifest =
      index === undefined ? found : await this.#registry.manifest(ofPlatform(reference, image, found), signal);
    const config = await this.#config(reference, manifest, signal);
    const { repository } = reference;
    const registry = isDockerHub(reference.host) ? "index.docker.io" : reference.host;
    const digest = reference.digest ?? found.digest;
    // Of a reference with both the tag is not looked at.
    const tag = reference.digest === undefined ? (reference.tag ?? "latest") : undefined;
    const name = `${registry}/${repository}`;
    return {
      image,
      resolvedImage: tag === undefined ? `${name}@${digest}` : `${name}:${tag}@${digest}`,
      registry,
      repository,
      identifier: tag ?? digest,
      ...(tag !== undefined && { tag }),
      digest,
      ...(index !== undefined && { imageIndex: index }),
      manifest: shapedManifest(manifest.content),
      config: shapedConfig(config),
    };
  }

  async #config(reference: ImageReference, { content }: Manifest, signal: AbortSignal): Promise<JsonObject> {
    const { digest, size } = (content.config ?? {}) as { readonly digest?: unknown; readonly size?: unknown };
    if (typeof digest !== "string" || !Number.isSafeInteger(size)) {
      throw new FetchError("the manifest names no configuration", { shown: "the manifest names no configuration" });
    }
    const descriptor = { mediaType: "", digest, size: size as number };
    const bytes = await this.#registry.blob(reference, descriptor, MAX_ANSWER_BYTES, signal);
    return readObject(bytes, "the configuration");
  }
}

function parse(image: string): ImageReference {
  try {
    return parseImageReference(image);
  } catch (cause) {
    const shown = `could not parse reference: ${image}`;
    throw new FetchError(`${shown}: ${shownOf(cause) ?? ""}`, { cause, shown });
  }
}

/** The first image of an index for the platform; one that names no platform is taken for it. */
function ofPlatform(reference: ImageReference, image: string, { content }: Manifest): ImageReference {
  const entry = (content.manifests as readonly unknown[]).find((one) => {
    const { os, architecture } = (one as { platform?: Partial<typeof PLATFORM> } | null)?.platform ?? PLATFORM;
    return os === PLATFORM.os && architecture === PLATFORM.architecture;
  }) as { readonly digest?: unknown } | undefined;
  if (typeof entry?.digest !== "string") {
    const shown = `no child with platform ${PLATFORM.os}/${PLATFORM.architecture} in index ${image}`;
    throw new FetchError(shown, { shown });
  }
  // Checked like a reference that a person wrote: it becomes part of an address.
  return parseImageReference(`${reference.host}/${reference.repository}@${entry.digest}`);
}
