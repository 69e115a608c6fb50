/** The reading of images, wherever they stand: in registries, or in a folder in their place. */
import type { TakesPieces } from "./http-client.js";
import type { ImageReference } from "./image-reference.js";

/** A part of an artifact. */
export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  /** Size in bytes. */
  readonly size: number;
  /** The type of an artifact in a list of referrers. */
  readonly artifactType?: string;
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

/** A source of manifests and blobs. */
export interface Registry {
  /**
   * Reads the manifest or index of a reference.
   * @param maxBytes default {@link import("./limits.js").MAX_ANSWER_BYTES}
   * @throws FetchError with status 404 where there is none
   */
  manifest(image: ImageReference, signal: AbortSignal, maxBytes?: number): Promise<Manifest>;
  /**
   * Reads a blob of an image's repository.
   * @param into receives it piece by piece, with an empty result
   * @throws FetchError also when its bytes don't have the digest, or are more than `most`
   */
  blob(
    image: ImageReference,
    descriptor: Descriptor,
    most: number,
    signal: AbortSignal,
    into?: TakesPieces,
  ): Promise<Buffer>;
  /**
   * The artifacts that refer to a manifest, a list at a time.
   * @throws FetchError where that can't be known: it is never an empty list
   */
  referrers(image: ImageReference, digest: string, signal: AbortSignal): AsyncIterable<readonly Descriptor[]>;
}
