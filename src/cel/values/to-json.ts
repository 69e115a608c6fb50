import { CelError } from "./cel-error.js";
import { Duration, Timestamp } from "./time.js";
import { TypeValue } from "./type-value.js";
import { Uint } from "./uint.js";
import { MapValue, ObjectValue, OpaqueValue, Optional, type Value } from "./value.js";

/** The remaining size of JSON; counts down over all values that are converted with it. */
export interface JsonRoom {
  /** Characters left, about. */
  left: number;
  /** Set to false by values that only the exact printer prints truly: integers beyond 2^53, doubles that are whole numbers. */
  plain: boolean;
}

/** The size of a value beside its text: the printed form of a number, its place in memory. */
const VALUE_CHARACTERS = 16;

/**
 * A CEL value as JSON data of the same number model (`value.ts`): ints, doubles, strings and plain maps are themselves, a uint becomes an
 * int, bytes become base64; data that is JSON already is itself, not a copy. Kinds without a JSON form (timestamps, optionals, types, library values) and maps with other than string keys
 * are an error that names the kind; so is a value that exceeds the room, before it takes any: a short expression can name one large object many times.
 */
export function toJson(value: Value, room?: JsonRoom): unknown | CelError {
  if (room !== undefined) {
    room.left -= VALUE_CHARACTERS;
    if (typeof value === "string" || value instanceof Uint8Array) room.left -= value.length;
    if (room.left < 0) return new CelError("too large to become JSON");
  }
  if (value === null || typeof value !== "object" || value instanceof Number) {
    if (room !== undefined && typeof value !== "string" && !isPlain(value)) room.plain = false;
    return value;
  }
  if (Array.isArray(value)) return listToJson(value, room);
  if (value instanceof Uint) return toJson(value.value, room);
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (value instanceof MapValue) return entriesToJson(value.entries(), room);
  const kind = kindWithoutJson(value);
  if (kind !== undefined) return new CelError(`a value of type ${kind} has no JSON form`);
  return objectToJson(value as { readonly [key: string]: Value }, room);
}

const isPlain = (value: unknown): boolean => value === null || (typeof value !== "bigint" && typeof value !== "object");

function kindWithoutJson(value: object): string | undefined {
  if (value instanceof Timestamp) return "timestamp";
  if (value instanceof Duration) return "duration";
  if (value instanceof Optional) return "optional_type";
  if (value instanceof TypeValue) return "type";
  if (value instanceof OpaqueValue || value instanceof ObjectValue) return value.typeName;
  return undefined;
}

/** A list as JSON. Data of requests is JSON already: a list that needs no change is returned itself, and not copied. */
function listToJson(list: readonly Value[], room: JsonRoom | undefined): unknown {
  let changed: unknown[] | undefined;
  for (let i = 0; i < list.length; i++) {
    const element = list[i] as Value;
    const converted = toJson(element, room);
    if (converted instanceof CelError) return converted;
    if (converted !== element) changed ??= list.slice(0, i);
    changed?.push(converted);
  }
  return changed ?? list;
}

function objectToJson(value: { readonly [key: string]: Value }, room: JsonRoom | undefined): unknown {
  const keys = Object.keys(value);
  let changed: [string, unknown][] | undefined;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string;
    const member = value[key] as Value;
    if (room !== undefined) room.left -= key.length;
    const converted = toJson(member, room);
    if (converted instanceof CelError) return converted;
    if (converted !== member) changed ??= keys.slice(0, i).map((each) => [each, value[each]]);
    changed?.push([key, converted]);
  }
  return changed === undefined ? value : Object.fromEntries(changed);
}

function entriesToJson(entries: Iterable<readonly [Value, Value]>, room: JsonRoom | undefined): unknown {
  const result: [string, unknown][] = [];
  for (const [key, member] of entries) {
    if (typeof key !== "string") return new CelError("a map with keys that are not strings has no JSON form");
    if (room !== undefined) room.left -= key.length;
    const converted = toJson(member, room);
    if (converted instanceof CelError) return converted;
    result.push([key, converted]);
  }
  // fromEntries defines its keys, so that "__proto__" stays a plain one.
  return Object.fromEntries(result);
}
