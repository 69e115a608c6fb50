/** Metadata of images for Kyverno's expressions (spec kyverno.md 4.5): names, manifest, configuration. */
import { FetchError, shownOf } from "./fetch-error.js";
import { childOf, configOf, type JsonObject, type Platform } from "./image-inspector.js";
import { type ImageReference, isDockerHub, parseImageReference } from "./image-reference.js";
import { shapedConfig, shapedManifest } from "./image-shape.js";
import { inTurn } from "./image-trust.js";
import type { Registry } from "./registry.js";

/** The platform that the reference implementation chooses of several, wherever it runs. */
const PLATFORM = { os: "linux", architecture: "amd64" };
/** Whether an image is for that platform; one without a platform counts as such. */
const isWanted = (platform: Platform | null | undefined): boolean => {
  const { os, architecture } = platform ?? PLATFORM;
  return os === PLATFORM.os && architecture === PLATFORM.architecture;
};

/** Reads metadata in registries, without a cache. */
export class ImageMetadata {
  readonly #registry: Registry;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  /**
   * @param image as written
   * @throws FetchError
   */
  async read(image: string, signal: AbortSignal): Promise<JsonObject> {
    const reference = parse(image);
    return inTurn(reference, signal, () => this.#read(image, reference, signal));
  }

  async #read(image: string, reference: ImageReference, signal: AbortSignal): Promise<JsonObject> {
    const found = await this.#registry.manifest(reference, signal);
    const child = childOf(reference, found, isWanted);
    if (child === undefined) {
      const shown = `no child with platform ${PLATFORM.os}/${PLATFORM.architecture} in index ${image}`;
      throw new FetchError(shown, { shown });
    }
    const manifest = child === reference ? found : await this.#registry.manifest(child, signal);
    const config = await configOf(this.#registry, reference, manifest, signal);
    const { repository } = reference;
    const registry = isDockerHub(reference.host) ? "index.docker.io" : reference.host;
    const digest = reference.digest ?? found.digest;
    // With a digest the tag is ignored.
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
      ...(child !== reference && { imageIndex: found.content }),
      manifest: shapedManifest(manifest.content),
      config: shapedConfig(config),
    };
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
