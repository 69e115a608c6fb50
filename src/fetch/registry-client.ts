/** Reads manifests and blobs from OCI registries (distribution specification 1.1; spec kubewarden.md 1.6 and 1.9). */
import { createHash, type Hash } from "node:crypto";
import type { Places } from "../config/places.js";
import { FetchError, TOO_LARGE } from "./fetch-error.js";
import type { HttpAnswer, TakesPieces } from "./http-client.js";
import { formatImageReference, type ImageReference } from "./image-reference.js";
import { MAX_ANSWER_BYTES } from "./limits.js";
import { type RegistryConnection, type RegistryRequest, readObject } from "./registry-connection.js";

/** Manifests and indexes, OCI's and Docker's. */
const MANIFEST_TYPES = [
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.v2+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
].join(", ");

/** A part of an artifact. */
export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  /** Size in bytes. */
  readonly size: number;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A manifest or index as stored in the registry. */
export interface Manifest {
  /** `sha256:<hex>` of `bytes`; equals the reference's digest when it has one. */
  readonly digest: string;
  readonly bytes: Buffer;
  /**
   * Its JSON, parsed at first use; its members are unchecked.
   * @throws FetchError when it is not a JSON object, or has too many values
   */
  readonly content: Readonly<Record<string, unknown>>;
}

/** Decides whether an image may be used; see `signatures/`. */
export interface ImageVerifier {
  /**
   * @returns the digest of the verified manifest
   * @throws FetchError with stage `verify`
   */
  verify(image: ImageReference, signal: AbortSignal): Promise<string>;
}

/** A client for any number of registries. */
export class RegistryClient {
  readonly #connection: RegistryConnection;
  readonly #places: Places | undefined;

  /** @param places permitted prefixes of redirects and token services; absent: any */
  constructor(connection: RegistryConnection, places?: Places) {
    this.#connection = connection;
    this.#places = places;
  }

  /** The same client, limited to these places. */
  within(places: Places): RegistryClient {
    return new RegistryClient(this.#connection, places);
  }

  /**
   * Reads the manifest or index of a reference.
   * @throws FetchError also when the bytes don't have the digest of the reference
   */
  async manifest(image: ImageReference, signal: AbortSignal, maxBytes = MAX_ANSWER_BYTES): Promise<Manifest> {
    const name = image.digest ?? image.tag ?? "latest";
    const headers = { accept: MANIFEST_TYPES };
    const { body: bytes } = await this.#get(image, `manifests/${name}`, { headers, maxBytes, signal });
    const digest = digestOf(bytes, image.digest);
    if (image.digest !== undefined && digest !== image.digest) {
      throw new FetchError(`the manifest of ${formatImageReference(image)} has the digest ${digest}`, {
        stage: "integrity",
      });
    }
    let content: Manifest["content"] | undefined;
    return {
      digest,
      bytes,
      // Its digest needs no parsing.
      get content() {
        content ??= readObject(bytes, `the manifest of ${formatImageReference(image)}`);
        return content;
      },
    };
  }

  /**
   * Reads a blob of an image's repository.
   * @param into receives it piece by piece, valid once this resolves, with an empty result
   * @throws FetchError also when its bytes don't have the digest, or are more than `most`
   */
  async blob(
    image: ImageReference,
    { digest, size }: Descriptor,
    most: number,
    signal: AbortSignal,
    into?: TakesPieces,
  ): Promise<Buffer> {
    const name = `the layer of ${formatImageReference(image)}`;
    if (size > most) throw new FetchError(`${name} has ${size} bytes, more than ${most}`, { shown: TOO_LARGE });
    const [algorithm, hash] = hashLike(digest);
    const take = (piece: Uint8Array) => {
      hash.update(piece);
      return into?.(piece);
    };
    const request = { maxBytes: size, signal, isKnown: true, into: into && take };
    const { body } = await this.#get(image, `blobs/${digest}`, request);
    const found = `${algorithm}:${hash.update(body).digest("hex")}`;
    if (found === digest) return body;
    throw new FetchError(`${name} has the digest ${found} instead of ${digest}`, { stage: "integrity" });
  }

  #get(image: ImageReference, path: string, request: Omit<RegistryRequest, "actions" | "places">): Promise<HttpAnswer> {
    const url = this.#connection.address(image, path);
    return this.#connection.ask(image, url, { ...request, actions: "pull", places: this.#places });
  }
}

/** The descriptors of a manifest's layers; others are left out. */
export function layersOf({ content }: Pick<Manifest, "content">): readonly Descriptor[] {
  return Array.isArray(content.layers) ? content.layers.filter(isDescriptor) : [];
}

function isDescriptor(value: unknown): value is Descriptor {
  if (typeof value !== "object" || value === null) return false;
  const { mediaType, digest, size, annotations } = value as Record<string, unknown>;
  const plain = typeof mediaType === "string" && Number.isSafeInteger(size) && (size as number) >= 0;
  if (!plain || typeof digest !== "string" || !/^sha(256:[0-9a-f]{64}|512:[0-9a-f]{128})$/.test(digest)) return false;
  if (annotations === undefined || annotations === null) return true;
  return typeof annotations === "object" && Object.values(annotations).every((text) => typeof text === "string");
}

/** `sha256:<hex>`, or with the algorithm of `like`. */
export function digestOf(bytes: Uint8Array, like = "sha256:"): string {
  const [algorithm, hash] = hashLike(like);
  return `${algorithm}:${hash.update(bytes).digest("hex")}`;
}

/** The algorithm of a digest, and a new hash of it. */
export function hashLike(digest: string): readonly [string, Hash] {
  const algorithm = digest.startsWith("sha512:") ? "sha512" : "sha256";
  return [algorithm, createHash(algorithm)];
}
