/** The merge of structured-merge-diff: nothing is removed, and the patch takes precedence (spec mutating-admission-policy.md 7). */
import { setKey } from "../../data/plain-object.js";
import { itemIdentity, type PatchItems } from "./list-items.js";
import { LIST, type ListType, MAP, type MapType, type TypeReference } from "./schema.js";
import { formOf, type Members } from "./value.js";

/**
 * A value merged with a patch, where both fit the type. Parts that only one of the two has are shared, not copied.
 * @param items the items of the patch
 */
export function merge(reference: TypeReference, live: unknown, patch: unknown, items: PatchItems): unknown {
  const type = reference.resolve();
  if (type === undefined) return patch;
  const { map, list } = type;
  const form = formOf(patch);
  const forms = type.forms & form || type.forms;
  if (map !== undefined && (forms & MAP) !== 0) return mergeMaps(map, live, patch, items);
  // Scalars, and values that have become one.
  if (list === undefined || form !== LIST) return patch;
  return mergeLists(list, live, patch as readonly unknown[], items);
}

function mergeMaps(map: MapType, live: unknown, patch: unknown, items: PatchItems): unknown {
  const oldNames = namesOf(live);
  const names = namesOf(patch);
  if (map.atomic || oldNames.length === 0) return patch;
  if (names.length === 0) return live;
  const old = live as Members;
  const asked = patch as Members;
  // A spread takes twice as long for very many members.
  const result: Record<string, unknown> = {};
  for (const name of oldNames) setKey(result, name, old[name]);
  for (const name of names) {
    const type = map.member(name);
    const value = asked[name];
    setKey(result, name, type !== undefined && Object.hasOwn(old, name) ? merge(type, old[name], value, items) : value);
  }
  return result;
}

const namesOf = (value: unknown): readonly string[] =>
  formOf(value) === MAP ? Object.keys(value as Members) : NO_NAMES;

const NO_NAMES: readonly string[] = [];

/**
 * Two merged lists: items that both have are merged and stand in the order of the patch; those that only the object has keep their places
 * between them, and new ones stand before the item that follows them in the patch.
 */
function mergeLists(list: ListType, live: unknown, patch: readonly unknown[], items: PatchItems): unknown {
  if (list.atomic || !Array.isArray(live) || live.length === 0) return patch;
  if (patch.length === 0) return live;
  return new ListMerge(list, live, patch, items).merge();
}

/** The place of an item that only one of the two lists has. */
const NOWHERE = -1;
/** The place of an item that is repeated in the object: it is replaced, not merged. */
const REPEATED = -2;

class ListMerge {
  readonly #list: ListType;
  readonly #live: readonly unknown[];
  readonly #patch: readonly unknown[];
  readonly #items: PatchItems;
  /** The place in the patch of each item of the object. */
  readonly #inPatch: Int32Array;
  /** The place in the object of each item of the patch. */
  readonly #inLive: Int32Array;
  readonly #result: unknown[] = [];

  constructor(list: ListType, live: readonly unknown[], patch: readonly unknown[], items: PatchItems) {
    this.#list = list;
    this.#live = live;
    this.#patch = patch;
    this.#items = items;
    this.#inPatch = new Int32Array(live.length);
    this.#inLive = new Int32Array(patch.length).fill(NOWHERE);
    const places = items.of(list, patch);
    for (let i = 0; i < live.length; i++) {
      const place = places.get(itemIdentity(list, live[i])) ?? NOWHERE;
      this.#inPatch[i] = place;
      if (place !== NOWHERE) this.#inLive[place] = this.#inLive[place] === NOWHERE ? i : REPEATED;
    }
  }

  merge(): readonly unknown[] {
    const inPatch = this.#inPatch;
    const { length: lives } = this.#live;
    const { length: asked } = this.#patch;
    // The next item of the patch that the object has too.
    let shared = this.#nextShared(0);
    let left = 0;
    let right = 0;
    while (left < lives || right < asked) {
      const place = left < lives ? inPatch[left] : undefined;
      if (place !== undefined && right < asked) {
        if (place === right) {
          this.#take(right);
          shared = this.#nextShared(shared + 1);
          left++;
          right++;
          continue;
        }
        if (place !== NOWHERE && shared < asked && place !== shared) {
          // It is placed elsewhere.
          left++;
          continue;
        }
      }
      if (place === NOWHERE) {
        this.#result.push(this.#live[left]);
        left++;
        continue;
      }
      // It is placed already.
      if (place !== undefined && place < right) left++;
      if (right < asked) {
        this.#take(right);
        right++;
      }
    }
    return this.#result;
  }

  /** The first item of the patch from a place on that the object has too; beyond the last when there is none. */
  #nextShared(from: number): number {
    const { length } = this.#patch;
    let place = from;
    while (place < length && this.#inLive[place] === NOWHERE) place++;
    return place;
  }

  /** Adds an item of the patch, merged with the object's. */
  #take(place: number): void {
    const item = this.#patch[place];
    const live = this.#inLive[place] ?? NOWHERE;
    if (live === NOWHERE) this.#result.push(item);
    else this.#result.push(merge(this.#list.element, live === REPEATED ? null : this.#live[live], item, this.#items));
  }
}
