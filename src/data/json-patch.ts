/**
 * The difference of two JSON values as a JSON Patch (RFC 6902), by the algorithm of spec kubewarden.md 4.1: objects key by key in sorted
 * order, arrays index by index with trailing additions or removals, anything else replaced.
 *
 * Own code because libraries compare numbers as the JavaScript engine does: boxed doubles are all equal to them, and they do not treat `__proto__` as a key.
 * It is also linear, where a longest-common-subsequence diff is quadratic in what a hostile guest sends.
 */
import { isJsonObject, sameScalar } from "./same-value.js";

/** One step of a patch. Only these three kinds appear. */
export type PatchOperation =
  | { readonly op: "add" | "replace"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string };

/** The error of a patch that would be too long. */
export class PatchTooLong extends Error {
  override readonly name = "PatchTooLong";
}

/**
 * The steps that turn `before` into `after`; empty when they are equal. Values are JSON as `data/json` reads it.
 * @param room most characters of the steps without their values: a long key above a long list is repeated in every step. Default: any number
 * @throws PatchTooLong when there are more
 */
export function diff(before: unknown, after: unknown, room = Number.POSITIVE_INFINITY): PatchOperation[] {
  const operations = new Operations(room);
  compare(before, after, "", operations);
  return operations.list;
}

type Container = Readonly<Record<string, unknown>>;

/** Characters of a step's JSON besides its path and its value, at least. */
const STEP = '{"op":"add","path":"","value":},'.length;

/** The steps so far. */
class Operations {
  readonly list: PatchOperation[] = [];
  #room: number;

  constructor(room: number) {
    this.#room = room;
  }

  push(operation: PatchOperation): void {
    this.#room -= STEP + operation.path.length;
    if (this.#room < 0) throw new PatchTooLong();
    this.list.push(operation);
  }
}

function compare(before: unknown, after: unknown, path: string, operations: Operations): void {
  if (before === after) return;
  if (Array.isArray(before) && Array.isArray(after)) compareArrays(before, after, path, operations);
  else if (isJsonObject(before) && isJsonObject(after)) compareMaps(before, after, path, operations);
  else if (!sameScalar(before, after)) operations.push({ op: "replace", path, value: after });
}

function compareMaps(before: Container, after: Container, path: string, operations: Operations): void {
  const keys = Object.keys(after);
  // Most members are identical: only the others need an order. An inherited member is not a value of JSON.
  const others = keys.filter((key) => after[key] !== before[key] || after[key] === undefined);
  let added = 0;
  for (const key of others.sort()) {
    const at = `${path}/${escapeStep(key)}`;
    if (Object.hasOwn(before, key)) compare(before[key], after[key], at, operations);
    else {
      operations.push({ op: "add", path: at, value: after[key] });
      added++;
    }
  }
  const former = Object.keys(before);
  if (former.length === keys.length - added) return;
  const removed = former.filter((key) => !Object.hasOwn(after, key));
  for (const key of removed.sort()) operations.push({ op: "remove", path: `${path}/${escapeStep(key)}` });
}

function compareArrays(
  before: readonly unknown[],
  after: readonly unknown[],
  path: string,
  operations: Operations,
): void {
  const common = Math.min(before.length, after.length);
  for (let i = 0; i < common; i++) compare(before[i], after[i], `${path}/${i}`, operations);
  for (let i = common; i < after.length; i++) operations.push({ op: "add", path: `${path}/${i}`, value: after[i] });
  for (let i = common; i < before.length; i++) operations.push({ op: "remove", path: `${path}/${common}` });
}

/** A key as a step of a JSON Pointer (RFC 6901). */
function escapeStep(key: string): string {
  return key.includes("~") || key.includes("/") ? key.replaceAll("~", "~0").replaceAll("/", "~1") : key;
}
