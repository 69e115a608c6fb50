/**
 * CEL values as tagged JSON, one key for the kind, so that int and uint, 1 and 1.0, text and bytes differ: `{"int":"5"}`, `{"map":[[k,v],…]}` sorted by key.
 */
import {
  CelError,
  compareStrings,
  type Duration,
  doubleOf,
  doubleText,
  durationInUnits,
  entriesOf,
  kindOf,
  type ObjectValue,
  type OpaqueValue,
  type Optional,
  type Result,
  Timestamp,
  type TypeValue,
  timestampText,
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
      return { timestamp: timestampText(inUtc(value as Timestamp)) };
    case "duration":
      return { duration: durationInUnits(value as Duration) };
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

const inUtc = ({ seconds, nanos }: Timestamp): Timestamp => new Timestamp(seconds, nanos);
