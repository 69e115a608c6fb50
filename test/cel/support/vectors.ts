/** The vectors made by the reference implementation, and the environment they were made in. */
import { readFileSync } from "node:fs";
import type { Declarations } from "../../../src/cel/checked.js";
import type { ObjectTypeDeclaration } from "../../../src/cel/declarations.js";
import { functionsByName, libraries } from "../../../src/cel/libraries.js";
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listType,
  mapType,
  objectType,
  opaqueType,
  optionalType,
  STRING,
  TIMESTAMP,
  type Type,
  UINT,
} from "../../../src/cel/types.js";
import { behaviourOf, NEWEST_VERSION } from "../../../src/data/kubernetes-version.js";

/** One line of a vector file. */
export interface Vector {
  readonly expr: string;
  readonly issues?: readonly { readonly line: number; readonly column: number; readonly message: string }[];
  readonly issuesText?: string;
  readonly type?: string;
  readonly error?: string;
  readonly estimateMin?: string;
  readonly estimateMax?: string;
}

const root = new URL("../../../../", import.meta.url);

/** A file of test/vectors/cel, one JSON value per line. */
export function readVectors(file: string): Vector[] {
  return readFileSync(new URL(`test/vectors/cel/${file}`, root), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Vector);
}

const VARIABLES: ReadonlyMap<string, Type> = new Map<string, Type>([
  ["object", DYN],
  ["oldObject", DYN],
  ["params", DYN],
  ["err", DYN],
  ["request", objectType("kubernetes.AdmissionRequest")],
  ["authorizer", opaqueType("kubernetes.authorization.Authorizer")],
  ["authorizer.requestResource", opaqueType("kubernetes.authorization.ResourceCheck")],
  ["s", STRING],
  ["i", INT],
  ["u", UINT],
  ["d", DOUBLE],
  ["b", BOOL],
  ["ls", listType(STRING)],
  ["li", listType(INT)],
  ["m", mapType(STRING, INT)],
  ["ts", TIMESTAMP],
  ["dur", DURATION],
  ["by", BYTES],
  ["oi", optionalType(INT)],
]);

const REQUEST: ObjectTypeDeclaration = {
  name: "kubernetes.AdmissionRequest",
  fields: new Map<string, Type>([
    ["name", STRING],
    ["dryRun", BOOL],
    ["options", DYN],
    ["__namespace__", STRING],
  ]),
};

/** The environment of the vectors: Kubernetes' functions, and the variables of variables.json. */
export function vectorDeclarations(
  flavour: Declarations["flavour"] = "kubernetes",
  version = NEWEST_VERSION,
): Declarations {
  const used = libraries(flavour, version);
  return {
    flavour,
    version,
    container: "",
    variables: VARIABLES,
    functions: functionsByName(used),
    objectTypes: new Map([[REQUEST.name, REQUEST]]),
    typeProvider: undefined,
    behaviour: behaviourOf(version),
    marksLists: false,
    typeNames: new Map(used.flatMap(({ typeNames }) => [...(typeNames ?? [])])),
  };
}
