/** How Go prints structs: which members, in which order, and the values of unset ones. */
import type { JsonObject } from "../object.js";
import type { GoMember, GoStruct, GoType } from "./go-type.js";

/** The plan for reading and printing a struct, made once: a list of 50,000 items needs it for each. */
export interface StructPlan {
  /** The members in Go's order. */
  readonly members: readonly PlannedMember[];
  /** The index of each member in that order. */
  readonly places: ReadonlyMap<string, number>;
}

/** A member of a struct, and when Go leaves it out. */
export interface PlannedMember {
  readonly member: GoMember;
  /** Whether an empty value is left out. */
  readonly leavesOutEmpty: boolean;
  /** Whether it is left out when no value was read. */
  readonly leavesOutUnread: boolean;
}

const PLANS = new WeakMap<GoStruct, StructPlan>();

/** The plan of a struct; made once for each struct. */
export function planOf(type: GoStruct): StructPlan {
  const known = PLANS.get(type);
  if (known !== undefined) return known;
  const members = [...type.members.values()].map((member): PlannedMember => {
    const { type: of, omitEmpty, omitZero } = member;
    const leavesOutEmpty = omitEmpty && of.kind !== "pointer" && !isAlwaysThere(of);
    const isPointer = omitEmpty && of.kind === "pointer";
    return { member, leavesOutEmpty, leavesOutUnread: leavesOutEmpty || isPointer || (omitZero && zero(of) === null) };
  });
  const plan: StructPlan = { members, places: new Map([...type.members.keys()].map((name, place) => [name, place])) };
  PLANS.set(type, plan);
  return plan;
}

/** The names that the struct has, in its order. */
export function knownInOrder(names: readonly string[], { places }: StructPlan): readonly string[] {
  let last = -1;
  const isSo = names.every((name) => {
    const place = places.get(name) ?? -1;
    const follows = place > last;
    last = place;
    return follows;
  });
  if (isSo) return names;
  const placed = names.flatMap((name) => {
    const place = places.get(name);
    return place === undefined ? [] : [{ name, place }];
  });
  return placed.sort((a, b) => a.place - b.place).map(({ name }) => name);
}

/** The printed form of a member; `undefined` when Go leaves it out. */
function printedMember({ member, leavesOutEmpty, leavesOutUnread }: PlannedMember, value: unknown): unknown {
  if (value === undefined) return leavesOutUnread ? undefined : zero(member.type);
  if (leavesOutEmpty && isEmpty(value)) return undefined;
  return member.omitZero && value === null ? undefined : value;
}

/** The members that Go prints, in the struct's order; `read` has their values by index. Always a new object: its struct is found by its identity. */
export function printed({ members }: StructPlan, read: readonly unknown[]): JsonObject {
  const object: Record<string, unknown> = {};
  for (let place = 0; place < members.length; place++) {
    const member = members[place] as PlannedMember;
    const value = printedMember(member, read[place]);
    if (value !== undefined) object[member.member.name] = value;
  }
  return object;
}

/** Whether an object with these keys is the printed form already: no unset member would be added. */
export function isPrinted(
  object: JsonObject,
  keys: readonly string[],
  { members }: StructPlan,
  read: readonly unknown[],
): boolean {
  let next = 0;
  for (let place = 0; place < members.length; place++) {
    const planned = members[place] as PlannedMember;
    if (read[place] === undefined) {
      if (planned.leavesOutUnread) continue;
      return false;
    }
    const value = printedMember(planned, read[place]);
    if (value === undefined) continue;
    const { name } = planned.member;
    if (keys[next] !== name || !Object.is(object[name], value)) return false;
    next++;
  }
  return next === keys.length;
}

/** Whether values of a type are never empty, as those of structs. */
function isAlwaysThere(type: GoType): boolean {
  switch (type.kind) {
    case "string":
    case "bool":
    case "integer":
    case "bytes":
    case "list":
    case "map":
      return false;
    default:
      return true;
  }
}

/** The map without entries: finding out whether a large one has any takes as long as listing them. */
export const NO_ENTRIES: JsonObject = Object.freeze({});

/** Whether a value is empty, for types that can be. */
function isEmpty(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return !value;
  return Array.isArray(value) ? value.length === 0 : value === NO_ENTRIES;
}

/** The printed form of an unset value. */
export function zero(type: GoType): unknown {
  switch (type.kind) {
    case "struct":
      return printed(planOf(type), []);
    case "string":
      return "";
    case "bool":
      return false;
    case "integer":
    case "IntOrString":
      return 0;
    case "Quantity":
      return "0";
    default:
      return null;
  }
}
