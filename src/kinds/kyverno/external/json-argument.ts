/** Arguments that are sent to others, as the reference converts CEL values to maps of texts and to protobuf's JSON values (spec kyverno.md 4.5). */
import {
  CelError,
  type Duration,
  durationText,
  entriesOf,
  kindOf,
  type Timestamp,
  timestampText,
  typeNameOf,
  type Uint,
  type Value,
} from "../../../cel/index.js";
import { goJson } from "../../../kubernetes/field-error.js";
import { compareNames } from "../../../kubernetes/names.js";

/** Greatest depth of what is sent: deeper than any useful document, far from what ends the process. */
const MAX_DEPTH = 100;

/** Most characters that are sent, about: more than an API server accepts, and few enough to be made within some 50 ms. */
const MAX_CHARACTERS = 4 * 1024 * 1024;

/** The size of a value beside its text. */
const VALUE_CHARACTERS = 4;

/** A map of texts. */
export function textMap(value: Value, position: number): Readonly<Record<string, string>> | CelError {
  const texts: [string, string][] = [];
  for (const [key, text] of entriesOf(value)) {
    if (typeof key !== "string" || typeof text !== "string")
      return unsupported(position, typeof key === "string" ? text : key);
    texts.push([key, text]);
  }
  return Object.fromEntries(texts);
}

/** Data that `JSON.stringify` prints: every number is a double, members stand in the order of their names. */
export function jsonOf(value: Value, position: number): unknown | CelError {
  const room = { left: MAX_CHARACTERS };
  return convert(value, position, room, MAX_DEPTH);
}

function convert(value: Value, position: number, room: { left: number }, depth: number): unknown | CelError {
  room.left -= VALUE_CHARACTERS + (typeof value === "string" || value instanceof Uint8Array ? value.length : 0);
  if (room.left < 0) return invalid(position, `it has more than ${MAX_CHARACTERS} characters`);
  if (depth === 0) return invalid(position, `it is nested more than ${MAX_DEPTH} levels deep`);
  switch (kindOf(value)) {
    case "null":
    case "bool":
    case "string":
      return value;
    case "double": {
      const double = Number(value);
      return Number.isFinite(double) ? double : invalid(position, `${double} has no JSON form`);
    }
    case "int":
      return typeof value === "bigint" ? String(value) : value;
    case "uint":
      return integer(BigInt((value as Uint).value));
    case "bytes":
      return Buffer.from(value as Uint8Array).toString("base64");
    case "timestamp":
      return timestampText(value as Timestamp);
    case "duration":
      return durationText(value as Duration);
    case "list":
      return list(value as readonly Value[], position, room, depth);
    case "map":
      return map(value, position, room, depth);
    default:
      return unsupported(position, value);
  }
}

/** An integer; one that not every double holds becomes a text. */
function integer(value: bigint): number | string {
  const small = Number(value);
  return Number.isSafeInteger(small) ? small : String(value);
}

function list(values: readonly Value[], position: number, room: { left: number }, depth: number): unknown | CelError {
  const items: unknown[] = [];
  for (const value of values) {
    const item = convert(value, position, room, depth - 1);
    if (item instanceof CelError) return item;
    items.push(item);
  }
  return items;
}

function map(value: Value, position: number, room: { left: number }, depth: number): unknown | CelError {
  const members: [string, unknown][] = [];
  for (const [key, inner] of entriesOf(value)) {
    if (typeof key !== "string") return unsupported(position, key);
    room.left -= key.length;
    const member = convert(inner, position, room, depth - 1);
    if (member instanceof CelError) return member;
    members.push([key, member]);
  }
  // fromEntries defines its keys, so that "__proto__" stays a plain one.
  return Object.fromEntries(members.sort(([a], [b]) => compareNames(a, b)));
}

const unsupported = (position: number, value: Value): CelError =>
  invalid(position, `unsupported type conversion from '${typeNameOf(value)}'`);

const invalid = (position: number, reason: string): CelError => new CelError(`invalid arg ${position}: ${reason}`);

/** Data as a body of JSON, as Go's encoder writes one. */
export const bodyOf = (data: unknown): string => `${goJson(data)}\n`;
