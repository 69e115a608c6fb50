/** The inverse of {@link import("../../../kinds/shared/encode-value.js")}: tagged JSON of a file of variables to CEL values. */
import {
  CelError,
  MapValue,
  makeDouble,
  makeInt,
  Optional,
  parseDuration,
  parseTimestamp,
  type Result,
  Timestamp,
  TypeValue,
  uintOf,
  type Value,
} from "../../../cel/index.js";

/** Error of an invalid tagged value. */
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

/** A map; with string keys a plain object, as in JSON. */
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
  const timestamp = content.endsWith("Z") ? parseTimestamp(content) : undefined;
  if (timestamp instanceof Timestamp) return timestamp;
  throw new BadVariable(`not a timestamp in UTC: ${content}`);
}

function durationOf(content: string): Value {
  const duration = parseDuration(content);
  if (duration === undefined) throw new BadVariable(`duration out of range: ${content}`);
  return duration;
}
