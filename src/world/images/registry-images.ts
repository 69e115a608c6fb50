import { withDoubles } from "../../data/doubles.js";
import { jsonWeight } from "../../data/json-weight.js";
import { endWithin } from "../../kubernetes/client/abort.js";
import { ANSWER_KEPT_MS } from "../../kubernetes/client/limits.js";
import type { JsonObject } from "../../kubernetes/object.js";
import { andThen, type Eventual } from "../eventual.js";
import { LookUps } from "../look-ups.js";
import { LookupFailure } from "../resources/resource-source.js";
import type { ImageSource } from "./image-source.js";
import { type ImageAccess, wordOf } from "./image-trust.js";

/** Reads an image's metadata from a registry, as JSON data. Its errors may have words for answers (`Shown`). */
export type ReadImage = (reference: string, signal: AbortSignal, access: ImageAccess) => Promise<JsonObject>;

/** Time for one question about an image, log-in, index, manifest and configuration included: as long as the API server waits for a webhook. */
export const IMAGE_MS = 10_000;
const OWN_ACCESS: ImageAccess = {};
/** Most images that are kept for a moment: as many as the pods of a large rollout have. */
export const MAX_IMAGES = 1_000;
/** Most bytes of memory for them: some 30 KiB each; the registry, which the request's author may choose, decides their size. */
const MAX_IMAGES_BYTES = 32 * 1024 * 1024;
/** Most bytes of one that is kept: ten times a usual one. A larger one is read anew each time. */
const MAX_KEPT_BYTES = 256 * 1024;

/** Images of registries; their metadata is kept for a moment, since requests for the same image come together. */
export class RegistryImages implements ImageSource {
  readonly #read: ReadImage;
  readonly #images: LookUps<JsonObject>;
  readonly #signal: AbortSignal;

  /**
   * @param now monotonic milliseconds
   * @param signal ends requests under way
   */
  constructor(read: ReadImage, now: () => number, signal: AbortSignal) {
    this.#read = read;
    this.#images = new LookUps<JsonObject>(now, {
      max: MAX_IMAGES,
      room: { bytes: MAX_IMAGES_BYTES, each: MAX_KEPT_BYTES, sizeOf: jsonWeight },
    });
    this.#signal = signal;
  }

  metadata(reference: string, access: ImageAccess = OWN_ACCESS): Eventual<JsonObject | LookupFailure> {
    const found = this.#images.ask(
      `${wordOf(access)} ${reference}`,
      () => this.#ask(reference, access),
      () => ANSWER_KEPT_MS,
    );
    return andThen(found, (image) => image ?? new LookupFailure("the registry says nothing"));
  }

  async #ask(reference: string, access: ImageAccess): Promise<JsonObject> {
    const limit = endWithin(this.#signal, IMAGE_MS);
    try {
      return withDoubles(await this.#read(reference, limit.signal, access)) as JsonObject;
    } finally {
      limit.done();
    }
  }
}
