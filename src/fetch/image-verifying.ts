import type { ImageReference } from "./image-reference.js";

/** Decides whether an image may be used; see `signatures/`. */
export interface ImageVerifier {
  /**
   * @returns the digest of the verified manifest
   * @throws FetchError with stage `verify`
   */
  verify(image: ImageReference, signal: AbortSignal): Promise<string>;
}
