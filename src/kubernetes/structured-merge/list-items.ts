/** The identity of items in merged lists: the values of their keys, or in a set the items themselves. */
import { quote } from "../../data/go/quote.js";
import { compareNames } from "../names.js";
import { ForeignValue } from "./patch-value.js";
import type { ListType } from "./schema.js";
import { MAP } from "./schema.js";
import { formOf, type Members, pathText } from "./value.js";

/** Why an item has no identity; `undefined` when it has one. */
export function itemProblem(list: ListType, item: unknown): string | undefined {
  return list.keys.length > 0 ? keyedItemProblem(list, item) : setItemProblem(item);
}

function setItemProblem(item: unknown): string | undefined {
  if (item === null) return "associative list without keys has an element that's an explicit null";
  if (Array.isArray(item)) return "not supported: associative list with lists as elements";
  return formOf(item) === MAP ? "associative list without keys has an element that's a map type" : undefined;
}

function keyedItemProblem(list: ListType, item: unknown): string | undefined {
  if (item === null) return "associative list with keys may not have a null element";
  if (!isMembers(item)) return "associative list with keys may not have non-map elements";
  let keyed = false;
  for (const key of list.keys) {
    if (Object.hasOwn(item, key)) {
      keyed = true;
      continue;
    }
    const type = list.element.resolve();
    if (type?.map === undefined) {
      const problem =
        type === undefined ? "invalid elementType for list" : "associative list may not have non-map types";
      return `couldn't find default value for ${key}: ${problem}`;
    }
    if (type.map.defaults.has(key)) keyed = true;
  }
  if (keyed) return undefined;
  const names = list.keys.map((key) => quote(key, false)).join(" ");
  return `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`;
}

/** The identity of an item: equal for two items exactly when they are one item of the list. */
export type ItemIdentity = string | number | bigint | boolean;

/** The beginning of identities other than those of scalars; a text that begins with it gets such an identity, too. */
const OTHER = "\u0000";

/** The identity of a valid item. Scalars are their own: most keys are short texts, and there may be very many of them. */
export function itemIdentity(list: ListType, item: unknown): ItemIdentity {
  const { sortedKeys } = list;
  if (sortedKeys.length === 0 || !isMembers(item)) return valueIdentity(item);
  const [first = ""] = sortedKeys;
  if (sortedKeys.length === 1) {
    const value = keyOf(list, item, first);
    return value === undefined ? OTHER : valueIdentity(value);
  }
  let text = OTHER;
  for (const key of sortedKeys) {
    const value = keyOf(list, item, key);
    // An absent key differs from any value.
    text += value === undefined ? "," : `${identityText(value)},`;
  }
  return text;
}

function valueIdentity(value: unknown): ItemIdentity {
  switch (typeof value) {
    case "string":
      return value.startsWith(OTHER) ? OTHER + identityText(value) : value;
    case "number":
    case "bigint":
    case "boolean":
      return value;
    default:
      // Numbers are equal by value, whether integers or doubles.
      return value instanceof Number ? value.valueOf() : OTHER + identityText(value);
  }
}

/** A text that only equal values have, and that marks its own end. */
function identityText(value: unknown): string {
  if (typeof value === "string") return `${value.length}"${value}`;
  if (typeof value !== "object") return String(value);
  if (value === null) return "null";
  if (Array.isArray(value)) return `[${value.map(identityText).join()}]`;
  if (value instanceof Number) return String(value.valueOf());
  if (value instanceof ForeignValue) return "?";
  const members = Object.entries(value).sort(([a], [b]) => compareNames(a, b));
  return `{${members.map(([name, inner]) => `${identityText(name)}:${identityText(inner)}`).join()}}`;
}

/**
 * Most items of lists and members of maps in one patch. An object of the largest accepted size has more, but no policy writes them: a patch
 * that copies so many from the object would block all other requests for longer than a tenth of a second.
 */
export const PATCH_ITEMS_MAX = 60_000;

/** The items of the lists of a patch that are merged: found when it is checked, used when it is merged. */
export class PatchItems {
  #count = 0;
  readonly #lists = new Map<readonly unknown[], { readonly list: ListType; readonly places: ItemPlaces }>();

  /** Counts items of a list or map; false when they are too many ({@link PATCH_ITEMS_MAX}). */
  admits(count: number): boolean {
    this.#count += count;
    return this.#count <= PATCH_ITEMS_MAX;
  }

  /** Adds a list without repeated items. */
  add(list: ListType, items: readonly unknown[], places: ItemPlaces): void {
    this.#lists.set(items, { list, places });
  }

  /** The places of a list's items. */
  of(list: ListType, items: readonly unknown[]): ItemPlaces {
    const known = this.#lists.get(items);
    // One list may stand in two places of different types.
    if (known?.list === list) return known.places;
    return new Map(items.map((item, place) => [itemIdentity(list, item), place]));
  }
}

/** The place of each item in its list. */
export type ItemPlaces = ReadonlyMap<ItemIdentity, number>;

/** An item's place in a path. */
export function itemPath(list: ListType, item: unknown): string {
  if (list.keys.length === 0 || !isMembers(item)) return `[=${pathText(item)}]`;
  const parts: string[] = [];
  for (const key of list.sortedKeys) {
    const value = keyOf(list, item, key);
    if (value !== undefined) parts.push(`${key}=${pathText(value)}`);
  }
  return `[${parts.join(",")}]`;
}

/** An item's key, or its default; `undefined` when it has neither. */
function keyOf(list: ListType, item: Members, key: string): unknown {
  return Object.hasOwn(item, key) ? item[key] : list.element.resolve()?.map?.defaults.get(key);
}

const isMembers = (value: unknown): value is Members => formOf(value) === MAP;
