/**
 * CEL values as tagged JSON, one key for the kind, so that int and uint, 1 and 1.0, text and bytes differ: `{"int":"5"}`, `{"map":[[k,v],…]}` sorted by key.
 */
import {
  CelError,
  compareStrings,
  type Duration,
  doubleOf,
  doubleText,
  entriesOf,
  kindOf,
  type ObjectValue,
  type OpaqueValue,
  type Optional,
  type Result,
  type Timestamp,
  type TypeValue,
  type Uint,
  type Value,
} from "../../cel/index.js";

/** A value with its kind as the only key. */
export type Encoded = { readonly [kind: string]: unknown };

/** The tagged form of a value. */
export function encodeValue(value: Result): Encoded {
  if (value instanceof CelError) return { error: value.message };
  switch (kindOf(value)) {
    case "null":
      return { null: true };
    case "bool":
      return { bool: value };
    case "int":
      return { int: String(value) };
    case "uint":
      return { uint: String((value as Uint).value) };
    case "double":
      return { double: doubleText(doubleOf(value) as number) };
    case "string":
      return { string: value };
    case "bytes":
      return { bytes: Buffer.from(value as Uint8Array).toString("base64") };
    case "timestamp":
      return { timestamp: timestampText(value as Timestamp) };
    case "duration":
      return { duration: durationText(BigInt((value as Duration).nanos)) };
    case "type":
      return { type: (value as TypeValue).name };
    case "optional": {
      const content = (value as Optional).value;
      return { optional: content === undefined ? null : encodeValue(content) };
    }
    case "list":
      return { list: (value as readonly Value[]).map(encodeValue) };
    case "map":
      return { map: encodeEntries(entriesOf(value)) };
    case "object":
      return { map: encodeEntries(fieldsOf(value as ObjectValue)) };
    case "opaque":
      return encodeOpaque(value as OpaqueValue);
  }
}

function encodeOpaque(value: OpaqueValue): Encoded {
  // The reference's authorizer values have no text of their own.
  const silent = value.typeName.startsWith("kubernetes.authorization.");
  return { opaque: value.typeName, text: silent ? "no such overload" : value.toString() };
}

function encodeEntries(entries: Iterable<readonly [Value, Result]>): readonly unknown[] {
  return [...entries]
    .map(([key, value]): [Encoded, Encoded] => [encodeValue(key), encodeValue(value)])
    .sort(([a], [b]) => compareStrings(JSON.stringify(a), JSON.stringify(b)));
}

function* fieldsOf(object: ObjectValue): Iterable<readonly [Value, Result]> {
  for (const name of object.fields()) {
    const value = object.get(name);
    if (value !== undefined) yield [name, value];
  }
}

/** RFC 3339 in UTC with as many fraction digits as there are. */
function timestampText({ seconds, nanos }: Timestamp): string {
  const whole = new Date(seconds * 1000)
    .toISOString()
    .replace(/\.000Z$/, "")
    .replace(/^\+?0*(?=\d{4}-)/, "");
  return `${whole}${fractionText(nanos, 9)}Z`;
}

function fractionText(fraction: number, digits: number): string {
  return fraction === 0 ? "" : `.${String(fraction).padStart(digits, "0").replace(/0+$/, "")}`;
}

const MICRO = 1_000n;
const MILLI = 1_000_000n;
const SECOND = 1_000_000_000n;

/** A duration as Go prints it: `1h30m0s`, `1.5s`, `100ms`, `0s`. */
export function durationText(nanos: bigint): string {
  if (nanos === 0n) return "0s";
  const sign = nanos < 0n ? "-" : "";
  const size = nanos < 0n ? -nanos : nanos;
  if (size < MICRO) return `${sign}${size}ns`;
  if (size < MILLI) return `${sign}${size / MICRO}${fractionText(Number(size % MICRO), 3)}µs`;
  if (size < SECOND) return `${sign}${size / MILLI}${fractionText(Number(size % MILLI), 6)}ms`;
  const seconds = size / SECOND;
  const hours = seconds / 3600n;
  const minutes = (seconds / 60n) % 60n;
  const rest = `${seconds % 60n}${fractionText(Number(size % SECOND), 9)}s`;
  if (hours > 0n) return `${sign}${hours}h${minutes}m${rest}`;
  return minutes > 0n ? `${sign}${minutes}m${rest}` : `${sign}${rest}`;
}
