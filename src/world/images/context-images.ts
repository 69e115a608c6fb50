import type { JsonObject } from "../../kubernetes/object.js";
import type { Eventual } from "../eventual.js";
import { LookupFailure } from "../resources/resource-source.js";
import type { ImageSource } from "./image-source.js";

/** Images that a context file describes, found by the text of their reference (spec kyverno.md 4.7). */
export class ContextImages implements ImageSource {
  readonly #images: ReadonlyMap<string, JsonObject>;
  readonly #others: ImageSource | undefined;

  /**
   * @param images by reference, all numbers doubles
   * @param others asked about other images; absent: there are none
   */
  constructor(images: ReadonlyMap<string, JsonObject> = new Map(), others?: ImageSource) {
    this.#images = images;
    this.#others = others;
  }

  metadata(reference: string): Eventual<JsonObject | LookupFailure> {
    const found = this.#images.get(reference) ?? this.#others?.metadata(reference);
    return found ?? new LookupFailure(`image data for ${reference} not found in the context`);
  }
}
