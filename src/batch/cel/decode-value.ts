/**
 * The inverse of {@link import("./encode-value.js")}: tagged JSON, as a file of variables holds it, to CEL values.
 */
import {
  add,
  CelError,
  Duration,
  MapValue,
  makeDouble,
  makeInt,
  Optional,
  type Result,
  Timestamp,
  TypeValue,
  uintOf,
  type Value,
} from "../../cel/index.js";

/** A tagged value that is none. */
export class BadVariable extends Error {
  readonly code = "CEL_VARIABLES";
}

/** The value of a tagged form. @throws BadVariable */
export function decodeValue(encoded: unknown): Result {
  const [kind, content] = single(encoded);
  switch (kind) {
    case "null":
      return null;
    case "bool":
      return content === true;
    case "string":
      return text(content);
    case "int":
      return makeInt(BigInt(text(content)));
    case "uint":
      return uintOf(BigInt(text(content)));
    case "double":
      return makeDouble(doubleOfText(text(content)));
    case "bytes":
      return new Uint8Array(Buffer.from(text(content), "base64"));
    case "timestamp":
      return timestampOf(text(content));
    case "duration":
      return durationOf(text(content));
    case "type":
      return new TypeValue(text(content));
    case "error":
      return new CelError(text(content));
    case "optional":
      return content === null ? Optional.NONE : Optional.of(value(content));
    case "list":
      return array(content).map(value);
    case "map":
      return mapOf(array(content));
    default:
      throw new BadVariable(`unknown kind of value: ${kind}`);
  }
}

function value(encoded: unknown): Value {
  const decoded = decodeValue(encoded);
  if (decoded instanceof CelError) throw new BadVariable("an error can only be a whole variable");
  return decoded;
}

function single(encoded: unknown): readonly [string, unknown] {
  const entries = typeof encoded === "object" && encoded !== null ? Object.entries(encoded) : [];
  const entry = entries[0];
  if (entry === undefined || entries.length !== 1) {
    throw new BadVariable(`a value is an object with its kind as the only key, not ${JSON.stringify(encoded)}`);
  }
  return entry;
}

function text(content: unknown): string {
  if (typeof content !== "string") throw new BadVariable(`expected a string, not ${JSON.stringify(content)}`);
  return content;
}

function array(content: unknown): readonly unknown[] {
  if (!Array.isArray(content)) throw new BadVariable(`expected an array, not ${JSON.stringify(content)}`);
  return content;
}

/** String keys make a plain object, as JSON does. */
function mapOf(entries: readonly unknown[]): Value {
  const decoded = entries.map((entry) => array(entry).map(value) as [Value, Value]);
  if (decoded.every(([key]) => typeof key === "string")) return Object.fromEntries(decoded) as { [key: string]: Value };
  const map = new MapValue();
  for (const [key, item] of decoded) map.set(key, item);
  return map;
}

function doubleOfText(content: string): number {
  if (content === "+Inf") return Number.POSITIVE_INFINITY;
  return content === "-Inf" ? Number.NEGATIVE_INFINITY : Number(content);
}

function timestampOf(content: string): Timestamp {
  const match = /^(.*?)(?:\.(\d{1,9}))?Z$/.exec(content);
  const milliseconds = match === null ? Number.NaN : Date.parse(`${match[1]}Z`);
  if (Number.isNaN(milliseconds)) throw new BadVariable(`not a timestamp in UTC: ${content}`);
  return new Timestamp(milliseconds / 1000, Number((match?.[2] ?? "").padEnd(9, "0")));
}

const UNITS: ReadonlyMap<string, number> = new Map([
  ["h", 3600e9],
  ["m", 60e9],
  ["s", 1e9],
  ["ms", 1e6],
  ["µs", 1e3],
  ["ns", 1],
]);

function durationOf(content: string): Value {
  const negative = content.startsWith("-");
  let total: Value = new Duration(0);
  for (const [, amount = "", unit = ""] of content.matchAll(/(\d+(?:\.\d+)?)(h|ms|µs|ns|m|s)/g)) {
    const part = new Duration(Math.round(Number(amount) * (UNITS.get(unit) as number)) * (negative ? -1 : 1));
    const sum = add(total, part);
    if (sum instanceof CelError) throw new BadVariable(`duration out of range: ${content}`);
    total = sum;
  }
  return total;
}
