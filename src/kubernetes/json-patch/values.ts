/** Converts the tree back to JSON. */

import { jsonDouble } from "../../data/json-double.js";
import { JSON_MAX_DEPTH } from "../../data/json-reader.js";
import { setKey } from "../../data/plain-object.js";
import { REMEMBERED_SIZE } from "../patch-memory.js";
import { MEMBER_WORK, PatchStop, REREAD_WORK, type Work } from "./limits.js";
import { type Container, isObject, Node, type Slot } from "./node.js";

/** The JSON of a member or item, as it is written and read again. Unchanged parts are shared with the original. */
export function slotValue(slot: Slot, work: Work, depth = 0): unknown {
  if (!(slot instanceof Node)) return reread(slot, work, depth);
  return slot.container === undefined ? reread(slot.raw, work, depth) : containerValue(slot.container, work, depth);
}

/** The JSON of a container. */
export function containerValue(container: Container, work: Work, depth = 0): unknown {
  if (depth > JSON_MAX_DEPTH) throw tooDeep();
  if (container.kind === "list") {
    work.spend(REREAD_WORK * container.items.length);
    return container.items.map((item) => slotValue(item, work, depth + 1));
  }
  if (container.members === null) return null;
  work.spend(MEMBER_WORK * container.members.size);
  const result: Record<string, unknown> = {};
  for (const [key, member] of container.members) setKey(result, key, slotValue(member, work, depth + 1));
  return result;
}

const tooDeep = (): PatchStop => new PatchStop("too-large", `the object nests deeper than ${JSON_MAX_DEPTH}`);

/** A value of JSON, written and read again: doubles that are whole become integers. */
function reread(value: unknown, work: Work, depth: number): unknown {
  if (typeof value === "number") {
    return Number.isSafeInteger(value) || !Number.isInteger(value) ? value : jsonDouble(value);
  }
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Number) return jsonDouble(value.valueOf());
  if (depth > JSON_MAX_DEPTH) throw tooDeep();
  if (work.reread?.has(value) === true) return value;
  return Array.isArray(value)
    ? rereadList(value, work, depth)
    : isObject(value)
      ? rereadObject(value, work, depth)
      : value;
}

function rereadList(list: readonly unknown[], work: Work, depth: number): unknown {
  work.spend(REREAD_WORK * list.length);
  let copy: unknown[] | undefined;
  for (let i = 0; i < list.length; i++) {
    const made = reread(list[i], work, depth + 1);
    if (made === list[i]) continue;
    copy ??= list.slice();
    copy[i] = made;
  }
  if (list.length >= REMEMBERED_SIZE) work.reread?.add(copy ?? list);
  return copy ?? list;
}

function rereadObject(object: { readonly [key: string]: unknown }, work: Work, depth: number): unknown {
  let copy: Record<string, unknown> | undefined;
  let count = 0;
  for (const key in object) {
    count++;
    const member = object[key];
    if (typeof member !== "object" && typeof member !== "number") continue;
    const made = reread(member, work, depth + 1);
    if (made === member) continue;
    copy ??= { ...object };
    setKey(copy, key, made);
  }
  work.spend(REREAD_WORK * count);
  if (count >= REMEMBERED_SIZE) work.reread?.add(copy ?? object);
  return copy ?? object;
}
