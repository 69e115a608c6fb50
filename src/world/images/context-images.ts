import type { JsonObject } from "../../kubernetes/object.js";
import { LookupFailure } from "../resources/resource-source.js";
import type { ImageSource } from "./image-source.js";

/** Images that a context file describes, found by the text of their reference; no registry is asked (spec kyverno.md 4.7). */
export class ContextImages implements ImageSource {
  readonly #images: ReadonlyMap<string, JsonObject>;

  /** @param images by reference, all numbers doubles */
  constructor(images: ReadonlyMap<string, JsonObject> = new Map()) {
    this.#images = images;
  }

  metadata(reference: string): JsonObject | LookupFailure {
    return this.#images.get(reference) ?? new LookupFailure(`image data for ${reference} not found in the context`);
  }
}
