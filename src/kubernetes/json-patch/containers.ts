/** Reads and changes objects and lists, with the library's errors. */

import { quote } from "../../data/go/quote.js";
import { ITEM_WORK, type Work } from "./limits.js";
import { type Child, type Container, type ListNode, Node, writable } from "./node.js";

const DIGITS = /^[+-]?([0-9]*)/;
const INTEGER = /^[+-]?[0-9]+$/;
const MAX_UINT64 = 2n ** 64n - 1n;
const INT64_END = 2n ** 63n;
/** Characters of any number within int64. */
const SHORT = 16;
/** Digits beyond which a number without leading zeros is out of all ranges. */
const LONG = 21;

/** An index of a list as Go's `strconv.Atoi` reads it (`01` and `+1` are 1), or its error. */
function parseIndex(text: string): number | string {
  const isInteger = INTEGER.test(text);
  if (text.length < SHORT) return isInteger ? Number(text) + 0 : atoiError(text, "invalid syntax");
  const digits = (DIGITS.exec(text)?.[1] ?? "").replace(/^0+/, "").slice(0, LONG);
  const magnitude = BigInt(digits);
  // It reads from the left: a text that is too large already need not be a number to its end.
  if (!isInteger) return atoiError(text, magnitude > MAX_UINT64 ? "value out of range" : "invalid syntax");
  const value = text.startsWith("-") ? -magnitude : magnitude;
  if (value >= INT64_END || value < -INT64_END) return atoiError(text, "value out of range");
  return Number(value);
}

const atoiError = (text: string, problem: string): string => `strconv.Atoi: parsing ${quote(text, false)}: ${problem}`;

/** An error; the operation adds its subject. */
export class Problem {
  constructor(readonly message: string) {}
}

/** The child under a key; `null` for a missing member. */
export function getChild(container: Container, key: string): Child | Problem {
  if (container.kind === "object") {
    const { members } = container;
    const slot = members?.get(key) ?? null;
    if (slot === null || slot instanceof Node) return slot;
    const node = new Node(slot);
    members?.set(key, node);
    return node;
  }
  const index = indexIn(container, key);
  if (index instanceof Problem) return index;
  const slot = container.items[index] ?? null;
  if (slot === null || slot instanceof Node) return slot;
  const node = new Node(slot);
  container.items[index] = node;
  return node;
}

/** Puts a child under a key, between the items of a list. */
export function addChild(container: Container, key: string, child: Child, work: Work): Problem | undefined {
  if (container.kind === "object") {
    writable(container).set(key, child);
    return undefined;
  }
  const { items } = container;
  if (key === "-") {
    items.push(child);
    return undefined;
  }
  const parsed = parseIndex(key);
  if (typeof parsed === "string") return new Problem(`value was not a proper array index: '${key}': ${parsed}`);
  const index = inRange(key, parsed, items.length + 1);
  if (index instanceof Problem) return index;
  work.spend(ITEM_WORK * (items.length - index));
  items.splice(index, 0, child);
  return undefined;
}

/** Puts a child in the place of one that {@link getChild} has found. */
export function setChild(container: Container, key: string, child: Child): Problem | undefined {
  if (container.kind === "object") {
    writable(container).set(key, child);
    return undefined;
  }
  const index = indexIn(container, key);
  if (index instanceof Problem) return index;
  container.items[index] = child;
  return undefined;
}

/** Removes a child. */
export function removeChild(container: Container, key: string, work: Work): Problem | undefined {
  if (container.kind === "object") {
    if (container.members?.delete(key) === true) return undefined;
    return new Problem(`Unable to remove nonexistent key: ${key}: missing value`);
  }
  const index = indexIn(container, key);
  if (index instanceof Problem) return index;
  work.spend(ITEM_WORK * (container.items.length - index));
  container.items.splice(index, 1);
  return undefined;
}

function indexIn({ items }: ListNode, key: string): number | Problem {
  const parsed = parseIndex(key);
  return typeof parsed === "string" ? new Problem(parsed) : inRange(key, parsed, items.length);
}

/** An index within the list; negative ones count from the end. */
function inRange(key: string, index: number, length: number): number | Problem {
  if (index >= length || index < -length) {
    return new Problem(`Unable to access invalid index: ${BigInt(key.replace("+", ""))}: invalid index referenced`);
  }
  return index < 0 ? index + length : index;
}
