/** The text of a value where Kyverno's functions want one and the checker cannot tell its type (spec kyverno.md 4.6). */
import { CelError, type Kind, kindOf, OpaqueValue, Optional, typeNameOf, type Value } from "../../../cel/index.js";

/** The reference's names of kinds that are not texts. */
const NAMES: Readonly<Partial<Record<Kind, string>>> = {
  bool: "bool",
  bytes: "Bytes",
  double: "Double",
  duration: "'Duration'",
  list: "list",
  map: "map",
  null: "'null_type'",
  timestamp: "'Timestamp'",
};

/** Library values that have a text. */
export const WITH_TEXT: ReadonlySet<string> = new Set([
  "kubernetes.Quantity",
  "kubernetes.Semver",
  "kyverno.image",
  "net.CIDR",
  "net.IP",
]);

/** The text of a value, or why it has none. */
export function nativeText(value: Value): string | CelError {
  if (typeof value === "string") return value;
  if (value instanceof Optional) {
    return value.value === undefined ? problem("optional.none() dereference") : nativeText(value.value);
  }
  if (value instanceof OpaqueValue && WITH_TEXT.has(value.typeName)) return value.toString();
  const kind = kindOf(value);
  if (kind === "int" || kind === "uint") return problem(`unsupported type conversion from '${kind}' to string`);
  if (kind === "type") return problem("type conversion not supported for 'type'");
  return problem(`type conversion error from ${NAMES[kind] ?? `'${typeNameOf(value)}'`} to 'string'`);
}

const problem = (message: string): CelError => new CelError(message, "conversion");
