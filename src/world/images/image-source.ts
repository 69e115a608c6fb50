/** A source of images' metadata from registries (spec kyverno.md 4.5). */
import type { JsonObject } from "../../kubernetes/object.js";
import type { Eventual } from "../eventual.js";
import type { LookupFailure } from "../resources/resource-source.js";
import type { ImageAccess } from "./image-trust.js";

/** A source of images' metadata. */
export interface ImageSource {
  /**
   * Names, manifest and configuration of an image; all numbers are doubles.
   * @param reference as written
   * @param access default the server's own
   */
  metadata(reference: string, access?: ImageAccess): Eventual<JsonObject | LookupFailure>;
}
