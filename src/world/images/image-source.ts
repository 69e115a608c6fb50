/** What registries say of images (spec kyverno.md 4.5). */
import type { JsonObject } from "../../kubernetes/object.js";
import type { Eventual } from "../eventual.js";
import type { LookupFailure } from "../resources/resource-source.js";

/** Who may be asked for images. */
export interface ImageSource {
  /**
   * Names, manifest and configuration of an image; all numbers are doubles.
   * @param reference as written
   */
  metadata(reference: string): Eventual<JsonObject | LookupFailure>;
}
