import { LRUCache } from "lru-cache";
import { stringifyJson } from "../../data/json.js";
import { JsonText, type ResourceKind } from "../host.js";
import { fieldMasks, masked } from "./field-masks.js";

/** Sets of masks whose texts are kept: policies write them down, so that there are few. */
const MASK_SETS = 64;

/**
 * Prints lists. The store gives the same objects until they change, so each is printed once for each set of masks and not with every request:
 * five thousand Pods take the main thread 300 ms. A text is kept as long as its object.
 */
export class ListTexts {
  readonly #known = new LRUCache<string, WeakMap<object, string>>({ max: MASK_SETS });

  /** The answer to a list, spec kubewarden.md 7.6. */
  answer({ apiVersion, kind }: ResourceKind, items: readonly unknown[], masks: readonly string[] = []): JsonText {
    const key = [...new Set(masks)].sort().join("\n");
    let texts = this.#known.get(key);
    if (texts === undefined) {
      texts = new WeakMap();
      this.#known.set(key, texts);
    }
    const wanted = fieldMasks(masks);
    const parts: string[] = [];
    for (const item of items) {
      const object = typeof item === "object" && item !== null ? item : undefined;
      let text = object && texts.get(object);
      text ??= stringifyJson(masked(item, wanted));
      if (object) texts.set(object, text);
      parts.push(text);
    }
    const head = stringifyJson({ apiVersion, kind: `${kind}List`, metadata: {} });
    return new JsonText(`${head.slice(0, -1)},"items":[${parts.join(",")}]}`);
  }
}
