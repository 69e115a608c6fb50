/** Writes artifacts into OCI registries (distribution specification 1.1): existing blobs are not sent again. */
import { FetchError } from "./fetch-error.js";
import { formatImageReference, type ImageReference } from "./image-reference.js";
import { MAX_ANSWER_BYTES } from "./limits.js";
import { digestOf } from "./registry-client.js";
import type { RegistryConnection } from "./registry-connection.js";

/** The media type of an artifact's manifest. */
const MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json";

/** A part of an artifact to be written. */
export interface Part {
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** An artifact to be written. */
export interface Artifact {
  readonly config: Part;
  readonly layers: readonly Part[];
  readonly annotations: Readonly<Record<string, string>>;
}

/** The media type of the layer that holds a module. */
export const WASM_LAYER = "application/vnd.wasm.content.layer.v1+wasm";
const WASM_CONFIG = "application/vnd.wasm.config.v1+json";

/**
 * A module as an artifact of an OCI registry, as kwctl writes it (spec kubewarden.md 1.6).
 * @param annotations from its metadata; those of several lines are left out: registries show them in lists
 */
export function moduleArtifact(bytes: Uint8Array, annotations: Readonly<Record<string, string>>): Artifact {
  const lines = Object.entries(annotations).filter(([, text]) => !/[\r\n]/.test(text.trim()));
  return {
    config: { mediaType: WASM_CONFIG, bytes: Buffer.from("{}") },
    layers: [{ mediaType: WASM_LAYER, bytes }],
    annotations: Object.fromEntries(lines.toSorted(([left], [right]) => (left < right ? -1 : 1))),
  };
}

/** Writes artifacts. */
export class RegistryWriter {
  readonly #connection: RegistryConnection;

  constructor(connection: RegistryConnection) {
    this.#connection = connection;
  }

  /**
   * Writes an artifact under a tag. The same artifact has the same digest, whenever it is pushed.
   * @returns the digest of its manifest
   * @throws FetchError
   */
  async push(image: ImageReference, { config, layers, annotations }: Artifact, signal: AbortSignal): Promise<string> {
    for (const part of [config, ...layers]) await this.#blob(image, part.bytes, signal);
    const manifest = Buffer.from(
      JSON.stringify({
        schemaVersion: 2,
        mediaType: MANIFEST_TYPE,
        config: described(config),
        layers: layers.map(described),
        ...(Object.keys(annotations).length > 0 && { annotations }),
      }),
    );
    if (manifest.length > MAX_ANSWER_BYTES)
      throw new FetchError(`the manifest of ${formatImageReference(image)} would have ${manifest.length} bytes`);
    const digest = digestOf(manifest);
    const url = this.#connection.address(image, `manifests/${image.tag ?? "latest"}`);
    const { headers } = await this.#connection.ask(image, url, {
      method: "PUT",
      headers: { "content-type": MANIFEST_TYPE },
      body: manifest,
      ...request(signal),
    });
    const told = headers["docker-content-digest"];
    if (told !== undefined && told !== digest)
      throw new FetchError(`${formatImageReference(image)}: the registry says its digest is ${told}, not ${digest}`, {
        stage: "integrity",
      });
    return digest;
  }

  /** Uploads a blob in one piece: every registry accepts that, and not all accept several. */
  async #blob(image: ImageReference, bytes: Uint8Array, signal: AbortSignal): Promise<void> {
    const digest = digestOf(bytes);
    const there = await this.#connection.ask(image, this.#connection.address(image, `blobs/${digest}`), {
      method: "HEAD",
      alsoAnswers: [404],
      ...request(signal),
    });
    if (there.status !== 404) return;
    const start = this.#connection.address(image, "blobs/uploads/");
    const begun = await this.#connection.ask(image, start, {
      method: "POST",
      body: new Uint8Array(),
      ...request(signal),
    });
    const { location } = begun.headers;
    if (location === undefined || !URL.canParse(location, begun.url.href))
      throw new FetchError(`${image.host} does not say where a blob of ${image.repository} is to be sent`);
    const target = new URL(location, begun.url);
    if (target.protocol !== begun.url.protocol && target.protocol !== "https:")
      throw new FetchError(
        `${image.host} wants blobs of ${image.repository} to be sent to ${target.origin}, without TLS`,
      );
    target.searchParams.set("digest", digest);
    await this.#connection.ask(image, target, {
      method: "PUT",
      headers: { "content-type": "application/octet-stream" },
      body: bytes,
      ...request(signal),
    });
  }
}

const request = (signal: AbortSignal) => ({ actions: "pull,push", maxBytes: MAX_ANSWER_BYTES, signal }) as const;

const described = ({ mediaType, bytes }: Part) => ({ mediaType, digest: digestOf(bytes), size: bytes.length });
