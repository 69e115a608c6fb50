/**
 * The tree that a patch changes: values stay JSON until an operation reaches into them, and then become nodes, which are changed in place. As
 * evanphx/json-patch v4 does, it distinguishes a null that was in the JSON (no node) from one that an operation has put there (a node of JSON null).
 */
import { ITEM_WORK, MEMBER_WORK, PatchStop, type Work } from "./limits.js";

/** A member of an object or item of a list that an operation has read; `null` is the null of JSON that was read. */
export type Child = Node | null;

/** A member or item as it is stored: a node, or JSON that no operation has read. */
export type Slot = unknown;

/** An object that operations reach into; `members` is `null` where JSON null was taken for an object. */
export interface ObjectNode {
  readonly kind: "object";
  readonly members: Map<string, Slot> | null;
}

/** A list that operations reach into. */
export interface ListNode {
  readonly kind: "list";
  readonly items: Slot[];
}

export type Container = ObjectNode | ListNode;

/** A value somewhere in the tree. */
export class Node {
  /** The JSON; meaningless once there is a container. */
  readonly raw: unknown;
  container: Container | undefined;

  constructor(raw: unknown) {
    this.raw = raw;
  }

  /** The value as a container; `undefined` for a scalar. Null is an object without members, and without room for any. */
  open(work: Work): Container | undefined {
    this.container ??= openValue(this.raw, work);
    return this.container;
  }
}

/** The container of a JSON value. */
export function openValue(value: unknown, work: Work): Container | undefined {
  if (value === null) return { kind: "object", members: null };
  if (Array.isArray(value)) {
    work.spend(ITEM_WORK * value.length);
    return { kind: "list", items: value.slice() };
  }
  if (!isObject(value)) return undefined;
  const keys = Object.keys(value);
  work.spend(MEMBER_WORK * keys.length);
  const members = new Map<string, Slot>();
  for (const key of keys) members.set(key, value[key]);
  return { kind: "object", members };
}

/** The members of an object that is written to. */
export function writable({ members }: ObjectNode): Map<string, Slot> {
  if (members === null) throw new PatchStop("panic", "assignment to entry in nil map");
  return members;
}

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Number);
}
