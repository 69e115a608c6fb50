/** The merge of structured-merge-diff: nothing is removed, what the patch says wins (spec mutating-admission-policy.md 7). */
import { setKey } from "../../data/plain-object.js";
import { itemIdentity } from "./list-items.js";
import { LIST, type ListType, MAP, type MapType, type TypeReference } from "./schema.js";
import { formOf, type Members } from "./value.js";

/**
 * A value and a patch of it in one, where both fit the type. What only one of the two has is taken as it is, not copied.
 */
export function merge(reference: TypeReference, live: unknown, patch: unknown): unknown {
  const type = reference.resolve();
  if (type === undefined) return patch;
  const { map, list } = type;
  const form = formOf(patch);
  const forms = type.forms & form || type.forms;
  if (map !== undefined && (forms & MAP) !== 0) return mergeMaps(map, live, patch);
  // Scalars, and what has become one.
  if (list === undefined || form !== LIST) return patch;
  return mergeLists(list, live, patch as readonly unknown[]);
}

function mergeMaps(map: MapType, live: unknown, patch: unknown): unknown {
  const old = membersOf(live);
  const asked = membersOf(patch);
  if (map.atomic || old === undefined) return patch;
  if (asked === undefined) return live;
  const result: Record<string, unknown> = {};
  for (const name of Object.keys(old)) setKey(result, name, old[name]);
  for (const name of Object.keys(asked)) {
    const type = map.member(name);
    const value = asked[name];
    setKey(result, name, type !== undefined && Object.hasOwn(old, name) ? merge(type, old[name], value) : value);
  }
  return result;
}

/** The members of an object that has any. */
function membersOf(value: unknown): Members | undefined {
  if (formOf(value) !== MAP) return undefined;
  const members = value as Members;
  for (const name in members) if (Object.hasOwn(members, name)) return members;
  return undefined;
}

/**
 * Two lists in one: items that both have are merged and stand in the order of the patch; those that only the object has keep their places
 * between them, and new ones stand before the item that follows them in the patch.
 */
function mergeLists(list: ListType, live: unknown, patch: readonly unknown[]): unknown {
  if (list.atomic || !Array.isArray(live) || live.length === 0) return patch;
  if (patch.length === 0) return live;
  return new ListMerge(list, live, patch).merge();
}

/** An item that stands several times in the object is merged with none of them: it is replaced. */
const REPEATED = null;

class ListMerge {
  readonly #list: ListType;
  readonly #live: readonly unknown[];
  readonly #patch: readonly unknown[];
  readonly #liveKeys: readonly string[];
  readonly #patchKeys: readonly string[];
  readonly #old = new Map<string, unknown>();
  readonly #asked: ReadonlySet<string>;
  readonly #done = new Set<string>();
  readonly #result: unknown[] = [];

  constructor(list: ListType, live: readonly unknown[], patch: readonly unknown[]) {
    this.#list = list;
    this.#live = live;
    this.#patch = patch;
    this.#liveKeys = live.map((item) => itemIdentity(list, item));
    this.#patchKeys = patch.map((item) => itemIdentity(list, item));
    for (const [i, key] of this.#liveKeys.entries()) this.#old.set(key, this.#old.has(key) ? REPEATED : live[i]);
    this.#asked = new Set(this.#patchKeys);
  }

  merge(): readonly unknown[] {
    const liveKeys = this.#liveKeys;
    const patchKeys = this.#patchKeys;
    const shared = patchKeys.filter((key) => this.#old.has(key));
    // The next item of the patch that the object has too.
    let next = 0;
    let left = 0;
    let right = 0;
    while (left < liveKeys.length || right < patchKeys.length) {
      const old = liveKeys[left];
      const asked = patchKeys[right];
      if (old !== undefined && asked !== undefined) {
        if (old === asked) {
          this.#take(right);
          left++;
          right++;
          next++;
          continue;
        }
        if (this.#asked.has(old) && next < shared.length && shared[next] !== old) {
          // Its turn is another one.
          left++;
          continue;
        }
      }
      if (old !== undefined) {
        if (!this.#asked.has(old)) {
          this.#result.push(this.#live[left]);
          left++;
          continue;
        }
        if (this.#done.has(old)) left++;
      }
      if (asked !== undefined) {
        this.#take(right);
        right++;
        if (shared[next] === asked) next++;
      }
    }
    return this.#result;
  }

  /** Takes an item of the patch, merged with the object's. */
  #take(index: number): void {
    const key = this.#patchKeys[index] ?? "";
    const item = this.#patch[index];
    this.#done.add(key);
    this.#result.push(this.#old.has(key) ? merge(this.#list.element, this.#old.get(key), item) : item);
  }
}
