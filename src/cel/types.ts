/**
 * The static types of CEL (spec kubernetes-cel.md 2.1 and 7.6). Types are plain immutable data, compared structurally.
 */

/** A static type. Timestamp and duration are scalars; `optional_type(T)` is the opaque type of that name. */
export type Type =
  | { readonly kind: ScalarKind }
  | { readonly kind: "list"; readonly element: Type }
  | { readonly kind: "map"; readonly key: Type; readonly value: Type }
  | { readonly kind: "opaque"; readonly name: string; readonly params: readonly Type[] }
  | { readonly kind: "object"; readonly name: string }
  | { readonly kind: "type"; readonly of: Type | undefined }
  | { readonly kind: "param"; readonly name: string }
  | { readonly kind: "wrapper"; readonly of: Type };

/** Types without parameters. `error` is the type of a failed subexpression. */
export type ScalarKind =
  | "dyn"
  | "any"
  | "error"
  | "null"
  | "bool"
  | "int"
  | "uint"
  | "double"
  | "string"
  | "bytes"
  | "timestamp"
  | "duration";

const scalar = (kind: ScalarKind): Type => Object.freeze({ kind });

export const DYN = scalar("dyn");
export const ANY = scalar("any");
export const ERROR = scalar("error");
export const NULL = scalar("null");
export const BOOL = scalar("bool");
export const INT = scalar("int");
export const UINT = scalar("uint");
export const DOUBLE = scalar("double");
export const STRING = scalar("string");
export const BYTES = scalar("bytes");
export const TIMESTAMP = scalar("timestamp");
export const DURATION = scalar("duration");

/** `list(element)`. */
export const listType = (element: Type): Type => ({ kind: "list", element });
/** `map(key, value)`. */
export const mapType = (key: Type, value: Type): Type => ({ kind: "map", key, value });
/** A library type such as `kubernetes.Quantity`, with its parameters. */
export const opaqueType = (name: string, ...params: Type[]): Type => ({ kind: "opaque", name, params });
/** `optional_type(of)`. */
export const optionalType = (of: Type): Type => opaqueType("optional_type", of);
/** An object type whose fields the environment declares. */
export const objectType = (name: string): Type => ({ kind: "object", name });
/** `type(of)`. */
export const typeType = (of?: Type): Type => ({ kind: "type", of });
/** A type parameter of an overload, such as `T`. */
export const typeParam = (name: string): Type => ({ kind: "param", name });
/** `wrapper(of)`: the scalar or null. */
export const wrapperType = (of: Type): Type => ({ kind: "wrapper", of });

/** The type as error messages print it (spec kubernetes-cel.md 7.6): `list(int)`, `map(string, dyn)`, `!error!`. */
export const formatType = (type: Type): string =>
  format(type, (leaf) => {
    if (leaf.kind === "error") return "!error!";
    return leaf.kind === "object" || leaf.kind === "param" ? leaf.name : leaf.kind;
  });

/** The type with its parameters in long names, as the result type of an expression is printed: `list(google.protobuf.Timestamp)`. */
export const formatLongType = (type: Type): string => format(type, runtimeTypeName);

function format(type: Type, leafText: (leaf: Type) => string): string {
  const part = (each: Type): string => format(each, leafText);
  switch (type.kind) {
    case "list":
      return `list(${part(type.element)})`;
    case "map":
      return `map(${part(type.key)}, ${part(type.value)})`;
    case "opaque":
      return type.params.length === 0 ? type.name : `${type.name}(${type.params.map(part).join(", ")})`;
    case "type":
      return type.of === undefined ? "type" : `type(${part(type.of)})`;
    case "wrapper":
      return `wrapper(${part(type.of)})`;
    default:
      return leafText(type);
  }
}

/** The name of the type at run time, without parameters: what `type(x)` yields and result-type messages print. */
export function runtimeTypeName(type: Type): string {
  switch (type.kind) {
    case "timestamp":
      return "google.protobuf.Timestamp";
    case "duration":
      return "google.protobuf.Duration";
    case "any":
      return "google.protobuf.Any";
    case "null":
      return "null_type";
    case "opaque":
    case "object":
    case "param":
      return type.name;
    case "wrapper":
      return runtimeTypeName(type.of);
    default:
      return type.kind;
  }
}

/** The types that a type is made of. */
export function partsOf(type: Type): readonly Type[] {
  switch (type.kind) {
    case "list":
      return [type.element];
    case "map":
      return [type.key, type.value];
    case "opaque":
      return type.params;
    case "type":
      return type.of === undefined ? [] : [type.of];
    default:
      return [];
  }
}

/** The types whose values have an order. */
export const ORDERED_TYPES: readonly Type[] = [INT, UINT, DOUBLE, BOOL, DURATION, TIMESTAMP, STRING, BYTES];
