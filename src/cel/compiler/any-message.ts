/** Message literals of `google.protobuf.Any`: the type inside is never known, so the result is always an error that prints them. */
import { kindOf, typeNameOf } from "../operators/kind.js";
import { textFormat } from "../values/bytes-text.js";
import { CelError } from "../values/cel-error.js";
import type { Value } from "../values/value.js";

/** The error of the literal, fields by number in protobuf's text format; those that are empty are left out. */
export function anyMessage(fields: ReadonlyMap<string, Value>): CelError {
  // A null that was written is an error, too.
  const { type_url: url = "", value = new Uint8Array(0) } = Object.fromEntries(fields);
  if (typeof url !== "string") return mismatch("type_url", url, "string");
  if (!(value instanceof Uint8Array)) return mismatch("value", value, "[]uint8");
  const parts = [
    ...(url === "" ? [] : [`type_url:${textFormat(Buffer.from(url))}`]),
    ...(value.length === 0 ? [] : [`value:${textFormat(value)}`]),
  ];
  return new CelError(`unsupported conversion to ref.Val: (*dynamicpb.Message)${parts.join("  ")}`);
}

/** The error of a value of the wrong kind: the reference words it differently from kind to kind. */
function mismatch(field: string, value: Value, to: string): CelError {
  return new CelError(`field type conversion error for google.protobuf.Any.${field} value type: ${reason(value, to)}`);
}

function reason(value: Value, to: string): string {
  const kind = kindOf(value);
  switch (kind) {
    case "int":
    case "uint":
      return `unsupported type conversion from '${kind}' to ${to}`;
    case "string":
      return `unsupported native conversion from string to '${to}'`;
    case "type":
      return "type conversion not supported for 'type'";
    default:
      return `type conversion error from ${NAMES[kind] ?? `'${typeNameOf(value)}'`} to '${to}'`;
  }
}

/** Kinds whose name in conversion errors is not their type's name. */
const NAMES: Readonly<Partial<Record<string, string>>> = {
  bool: "bool",
  bytes: "Bytes",
  double: "Double",
  duration: "'Duration'",
  list: "list",
  map: "map",
  timestamp: "'Timestamp'",
};
