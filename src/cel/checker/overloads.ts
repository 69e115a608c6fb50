/** Overloads prepared for checking: their type parameters collected once, and renamed for every call. */
import type { FunctionDeclaration } from "../declarations.js";
import { listType, mapType, type Type, typeParam, typeType } from "../types.js";

/** An overload with the names of its type parameters. */
export interface PreparedOverload {
  readonly id: string;
  readonly member: boolean;
  readonly params: readonly Type[];
  readonly result: Type;
  readonly typeParams: readonly string[];
  /** Orders numbers of different types. */
  readonly acrossTypes: boolean;
}

/** `less_int64_double`, `greater_equals_uint64_int64`, … */
const ACROSS_TYPES = /^(less|greater)(_equals)?_(int64|uint64|double)_(int64|uint64|double)$/;

/** The overloads of functions that expressions call: environments share declarations. */
const PREPARED = new WeakMap<FunctionDeclaration, readonly PreparedOverload[]>();

/** The overloads of a function, prepared once. */
export function prepareOverloads(declaration: FunctionDeclaration): readonly PreparedOverload[] {
  const known = PREPARED.get(declaration);
  if (known !== undefined) return known;
  const prepared = declaration.overloads.map(({ id, member, params, result }) => {
    const names = new Set<string>();
    // The result's first: fresh parameters are numbered in this order, and their numbers show in messages.
    for (const type of [result, ...params]) collectParams(type, names);
    return { id, member, params, result, typeParams: [...names], acrossTypes: ACROSS_TYPES.test(id) };
  });
  PREPARED.set(declaration, prepared);
  return prepared;
}

function collectParams(type: Type, names: Set<string>): void {
  switch (type.kind) {
    case "param":
      names.add(type.name);
      break;
    case "list":
      collectParams(type.element, names);
      break;
    case "map":
      collectParams(type.key, names);
      collectParams(type.value, names);
      break;
    case "opaque":
      for (const param of type.params) collectParams(param, names);
      break;
    case "type":
      if (type.of !== undefined) collectParams(type.of, names);
      break;
    default:
  }
}

/** The type with its parameters renamed. */
export function rename(type: Type, names: ReadonlyMap<string, string>): Type {
  switch (type.kind) {
    case "param":
      return typeParam(names.get(type.name) ?? type.name);
    case "list":
      return listType(rename(type.element, names));
    case "map":
      return mapType(rename(type.key, names), rename(type.value, names));
    case "opaque":
      return type.params.length === 0 ? type : { ...type, params: type.params.map((param) => rename(param, names)) };
    case "type":
      return type.of === undefined ? type : typeType(rename(type.of, names));
    default:
      return type;
  }
}
