/** `test`: whether the library takes two values for equal, which is not everywhere what one would expect. */
import { JSON_MAX_DEPTH } from "../../data/json-reader.js";
import { numberText } from "./json-text.js";
import { PatchStop, VALUE_WORK, type Work } from "./limits.js";
import { type Child, type Container, isObject, Node } from "./node.js";

/** The text of what Go says when it follows a pointer to nothing. */
const NIL_POINTER = "runtime error: invalid memory address or nil pointer dereference";

const panic = (): PatchStop => new PatchStop("panic", NIL_POINTER);

/** A value of the tree, as far as operations have reached into it, or JSON. */
type Side =
  | Container
  | { readonly kind: "scalar"; readonly value: unknown }
  | { readonly kind: "json"; readonly value: object };

/**
 * Whether a container or node of the tree equals a value of JSON. A null that an operation has put equals an empty object and null; an empty list equals
 * null; and where a list has a null, the library panics.
 */
export function equalsJson(tree: Container | Node, json: unknown, work: Work): boolean {
  return equal(tree instanceof Node ? sideOf(tree) : tree, json, work, 0);
}

function sideOf(node: Node): Side {
  return node.container ?? rawSide(node.raw);
}

function rawSide(raw: unknown): Side {
  if (raw === null) return { kind: "object", members: null };
  if (Array.isArray(raw) || isObject(raw)) return { kind: "json", value: raw };
  return { kind: "scalar", value: raw };
}

function equal(side: Side, json: unknown, work: Work, depth: number): boolean {
  work.spend(VALUE_WORK);
  if (depth > JSON_MAX_DEPTH) throw new PatchStop("too-large", `the object nests deeper than ${JSON_MAX_DEPTH}`);
  switch (side.kind) {
    case "scalar":
      return sameScalar(side.value, json, work);
    case "object":
      return equalObjects(side.members ?? NO_MEMBERS, (member) => member, json, work, depth);
    case "list":
      return equalLists(side.items, (item) => item, json, work, depth);
    case "json":
      return Array.isArray(side.value)
        ? equalLists(side.value as readonly unknown[], childOf, json, work, depth)
        : equalObjects(new Map(Object.entries(side.value)), childOf, json, work, depth);
  }
}

const NO_MEMBERS: ReadonlyMap<string, Child> = new Map();

/** A child of JSON that operations have not reached into. */
const childOf = (value: unknown): Side | null => (value === null ? null : rawSide(value));

type Part = Child | Side;

function equalObjects<T>(
  members: ReadonlyMap<string, T>,
  partOf: (member: T) => Part,
  json: unknown,
  work: Work,
  depth: number,
): boolean {
  const others = json === null ? {} : json;
  if (!isObject(others)) return false;
  const count = Object.keys(others).length;
  work.spend(VALUE_WORK * (count + members.size));
  if (count !== members.size) return false;
  for (const [key, member] of members) {
    if (!Object.hasOwn(others, key)) return false;
    const part = partOf(member);
    const other = others[key];
    if ((part === null) !== (other === null)) return false;
    if (part !== null && !equal(part instanceof Node ? sideOf(part) : part, other, work, depth + 1)) return false;
  }
  return true;
}

function equalLists<T>(
  items: readonly T[],
  partOf: (item: T) => Part,
  json: unknown,
  work: Work,
  depth: number,
): boolean {
  const others: unknown = json === null ? [] : json;
  if (!Array.isArray(others) || others.length !== items.length) return false;
  for (let i = 0; i < items.length; i++) {
    const part = partOf(items[i] as T);
    if (part === null || others[i] === null) throw panic();
    if (!equal(part instanceof Node ? sideOf(part) : part, others[i], work, depth + 1)) return false;
  }
  return true;
}

/** Scalars are equal when their JSON is. */
function sameScalar(a: unknown, b: unknown, work: Work): boolean {
  if (typeof a === "string") work.spend(a.length);
  if (isNumber(a)) return isNumber(b) && numberText(a) === numberText(b);
  return a === b;
}

const isNumber = (value: unknown): boolean =>
  typeof value === "number" || typeof value === "bigint" || value instanceof Number;
