/** `test`: whether the library considers two values equal, which is sometimes surprising. */
import { JSON_MAX_DEPTH } from "../../data/json-reader.js";
import { numberText } from "./json-text.js";
import { PatchStop, VALUE_WORK, type Work } from "./limits.js";
import { type Container, isObject, Node, type Slot } from "./node.js";

/** Go's text for a dereferenced nil pointer. */
const NIL_POINTER = "runtime error: invalid memory address or nil pointer dereference";

const panic = (): PatchStop => new PatchStop("panic", NIL_POINTER);

/** A value of the tree, as far as operations have reached into it. */
type Side = ObjectSide | ListSide | { readonly kind: "scalar"; readonly value: unknown };
interface ObjectSide {
  readonly kind: "object";
  readonly members: ReadonlyMap<string, Slot> | { readonly [key: string]: unknown } | null;
}
interface ListSide {
  readonly kind: "list";
  readonly items: readonly Slot[];
}

/**
 * Whether a container or node of the tree equals a value of JSON. A null that an operation has put equals an empty object and null; an empty list equals
 * null; and where a list contains a null, the library panics.
 */
export function equalsJson(tree: Container | Node, json: unknown, work: Work): boolean {
  return equal(tree instanceof Node ? sideOf(tree) : tree, json, work, 0);
}

function sideOf(slot: Slot): Side {
  if (slot instanceof Node && slot.container !== undefined) return slot.container;
  const raw: unknown = slot instanceof Node ? slot.raw : slot;
  if (raw === null) return { kind: "object", members: null };
  if (Array.isArray(raw)) return { kind: "list", items: raw };
  return isObject(raw) ? { kind: "object", members: raw } : { kind: "scalar", value: raw };
}

function equal(side: Side, json: unknown, work: Work, depth: number): boolean {
  work.spend(VALUE_WORK);
  if (depth > JSON_MAX_DEPTH) throw new PatchStop("too-large", `the object nests deeper than ${JSON_MAX_DEPTH}`);
  switch (side.kind) {
    case "scalar":
      return sameScalar(side.value, json, work);
    case "object":
      return equalObjects(side.members ?? {}, json, work, depth);
    case "list":
      return equalLists(side.items, json, work, depth);
  }
}

function equalObjects(members: NonNullable<ObjectSide["members"]>, json: unknown, work: Work, depth: number): boolean {
  const others = json === null ? {} : json;
  if (!isObject(others)) return false;
  const keys = members instanceof Map ? [...members.keys()] : Object.keys(members);
  if (Object.keys(others).length !== keys.length) return false;
  work.spend(VALUE_WORK * keys.length);
  for (const key of keys) {
    if (!Object.hasOwn(others, key)) return false;
    const slot: Slot =
      members instanceof Map ? members.get(key) : (members as { readonly [key: string]: unknown })[key];
    const other = others[key];
    if ((slot === null) !== (other === null)) return false;
    if (slot !== null && !equal(sideOf(slot), other, work, depth + 1)) return false;
  }
  return true;
}

function equalLists(items: readonly Slot[], json: unknown, work: Work, depth: number): boolean {
  const others: unknown = json === null ? [] : json;
  if (!Array.isArray(others) || others.length !== items.length) return false;
  for (let i = 0; i < items.length; i++) {
    if (items[i] === null || others[i] === null) throw panic();
    if (!equal(sideOf(items[i]), others[i], work, depth + 1)) return false;
  }
  return true;
}

/** Whether two scalars are equal: when their JSON is. */
function sameScalar(a: unknown, b: unknown, work: Work): boolean {
  if (typeof a === "string") work.spend(a.length);
  if (isNumber(a)) return isNumber(b) && numberText(a) === numberText(b);
  return a === b;
}

const isNumber = (value: unknown): boolean =>
  typeof value === "number" || typeof value === "bigint" || value instanceof Number;
