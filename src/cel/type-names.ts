/**
 * The names of types that can be used as identifiers (spec kubernetes-cel.md 2.1).
 */
import type { Library } from "./declarations.js";
import {
  BOOL,
  BYTES,
  DOUBLE,
  DYN,
  INT,
  listType,
  mapType,
  NULL,
  optionalType,
  STRING,
  type Type,
  typeType,
  UINT,
} from "./types.js";

/** Names of the language itself. */
const LANGUAGE: readonly (readonly [string, Type])[] = [
  ["bool", BOOL],
  ["int", INT],
  ["uint", UINT],
  ["double", DOUBLE],
  ["string", STRING],
  ["bytes", BYTES],
  ["list", listType(DYN)],
  ["map", mapType(DYN, DYN)],
  ["null_type", NULL],
  ["type", typeType()],
];

/** The type names of the language, of its optionals where they are among the libraries, and of the libraries. */
export function typeNamesOf(libraries: readonly Library[], withLanguage = false): ReadonlyMap<string, Type> {
  const names = new Map<string, Type>(withLanguage ? LANGUAGE : []);
  for (const library of libraries) {
    if (library.name === "optionals") names.set("optional_type", optionalType(DYN));
    for (const [name, type] of library.typeNames ?? []) names.set(name, type);
  }
  return names;
}
