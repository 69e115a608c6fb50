/** The expressions of Kyverno's ValidatingPolicies: their names, cost and messages (spec kyverno.md 4). */
import {
  ADMISSION_REQUEST,
  ADMISSION_TYPES,
  DYN,
  listType,
  mapType,
  NAMESPACE,
  type ObjectTypeDeclaration,
  objectType,
  STRING,
  type VariableDeclaration,
} from "../../cel/index.js";
import type { Dialect, Scope } from "../shared/dialect.js";
import { ExpressionCompiler } from "../shared/expressions/expression-compiler.js";
import { MUTATION_TYPES } from "../shared/mutation/mutation-types.js";
import type { Watcher } from "../shared/watcher.js";
import { externalFunctions, externalVariables } from "./external/index.js";
import { IMAGE_SIGNATURE_FUNCTIONS } from "./image-validating/functions.js";
import { IMAGE_FUNCTIONS, libraryFunctions, libraryTypes, libraryVariables } from "./libraries/index.js";

/** The name of the type of `variables`. */
export const VARIABLES_TYPE = "kyverno.variables";

/** The type of `exceptions`: the allowances of the exceptions that apply. */
const EXCEPTION: ObjectTypeDeclaration = {
  name: "libs.Exception",
  fields: new Map([
    ["allowedImages", listType(STRING)],
    ["allowedValues", listType(STRING)],
  ]),
  construct: (fields) => ({
    allowedImages: fields.get("allowedImages") ?? [],
    allowedValues: fields.get("allowedValues") ?? [],
  }),
};

/** `request` with its objects, as they were sent. */
export const REQUEST_TYPES: readonly ObjectTypeDeclaration[] = ADMISSION_TYPES.map((type) =>
  type.name === "kubernetes.AdmissionRequest"
    ? { ...type, fields: new Map([...type.fields, ["object", DYN], ["oldObject", DYN]]) }
    : type,
);

/** The names that every expression of a policy may use beside the request: results that depend on these belong to one policy. */
export const SCOPE_WORDS: readonly string[] = ["exceptions", "request", "external", "images"];

/** The scope of ImageValidatingPolicies in JSON mode: there is no request, and they don't see their variables. */
export const PAYLOAD_SCOPE: Scope = { optional: ["external", "images"], variables: undefined };

/** The scope of match conditions, those of exceptions too; everything else also has `variables`. */
export const CONDITION_SCOPE: Scope = { optional: SCOPE_WORDS, variables: new Map() };

/** Names of other kinds of policies, and what Kyverno's have instead. */
const KNOWN_NAMES: ReadonlyMap<string, string> = new Map([
  ["params", "Kyverno's policies have no parameters: look them up with resource.Get(…), or write them as variables"],
  ["authorizer", "Kyverno's policies can't ask the authorizer"],
  ["variables", "match conditions don't see variables: write the expression itself here"],
]);

/**
 * The dialect of a kind of policies.
 *
 * @param namespaced NamespacedValidatingPolicies: their functions know one namespace only (spec kyverno.md 1.7)
 * @param mutating MutatingPolicies: all of their expressions know the types of mutations
 */
export const createDialect = (namespaced: boolean, mutating = false): Dialect => ({
  environment: {
    flavour: "kubernetes",
    version: "1.36",
    extensions: ["bindings", "encoders", "math", "regex", ...(mutating ? ["jsonpatch" as const] : [])],
    ...(mutating && { typeProvider: MUTATION_TYPES, marksLists: true }),
    objectTypes: [...REQUEST_TYPES, EXCEPTION, ...libraryTypes],
    variables: [
      { name: "object", type: DYN },
      { name: "oldObject", type: DYN },
      { name: "request", type: ADMISSION_REQUEST },
      { name: "namespaceObject", type: NAMESPACE },
      ...libraryVariables,
    ],
    functions: [...libraryFunctions, ...externalFunctions(namespaced)],
  },
  optional: {
    exceptions: [{ name: "exceptions", type: objectType(EXCEPTION.name) }],
    // The world may answer each policy differently, and each call of `http.Post` is its own.
    external: externalVariables,
  },
  variables: { typeName: VARIABLES_TYPE, nameOf: (field) => field },
  knownNames: KNOWN_NAMES,
  costs: {
    expression: 1_000_000,
    evaluation: Number.POSITIVE_INFINITY,
    conditions: Number.POSITIVE_INFINITY,
  },
  words: {
    notCompiled: (text) => text,
    wrongType: (wanted) => {
      if (wanted === "string-or-null") return "output is expected to be either of type string or null_type";
      return `output is expected to be of type ${wanted.replace(/^list.*/, "list").replace("-or-dyn", "")}`;
    },
    failed: (_source, error) => error,
    uncompiled: (error) => error,
    failedVariable: (_name, error) => error,
    uncompiledVariable: (_name, error) => error,
    outOfBudget: "operation cancelled: actual cost limit exceeded",
  },
});

/** The variables of the API server's requests. */
const REQUEST_NAMES = ["request", "oldObject", "namespaceObject"];

/** The dialect of ImageValidatingPolicies (spec kyverno.md 9). */
const createImageDialect = (namespaced: boolean): Dialect => {
  const dialect = createDialect(namespaced);
  const { variables = [], functions = [] } = dialect.environment;
  const isOfRequests = ({ name }: VariableDeclaration): boolean => REQUEST_NAMES.includes(name);
  return {
    ...dialect,
    environment: {
      ...dialect.environment,
      variables: variables.filter((variable) => !isOfRequests(variable)),
      // The reference leaves two libraries out here.
      functions: [...functions.filter(({ name }) => !/^x509|orValue/.test(name)), ...IMAGE_SIGNATURE_FUNCTIONS],
    },
    optional: {
      request: variables.filter(isOfRequests),
      external: externalVariables,
      images: [
        { name: "images", type: mapType(STRING, listType(STRING)) },
        { name: "attestors", type: mapType(STRING, DYN) },
        { name: "attestations", type: mapType(STRING, STRING) },
      ],
    },
    knownNames: new Map([
      ...REQUEST_NAMES.map((name) => [name, "in the mode JSON there is `object` only"] as const),
      ["variables", "match conditions, `images` and policies in the mode JSON don't see variables"],
      ["exceptions", "exceptions from ImageValidatingPolicies exempt from the whole policy, which does not see them"],
    ]),
  };
};

/** The dialect of `matchImageReferences`, which see nothing but `ref`. */
const createReferenceDialect = (): Dialect => {
  const dialect = createDialect(false);
  return {
    ...dialect,
    environment: {
      flavour: "kubernetes",
      version: "1.36",
      extensions: ["bindings", "encoders", "math", "regex"],
      variables: [{ name: "ref", type: STRING }],
      functions: IMAGE_FUNCTIONS,
    },
    optional: {},
    knownNames: new Map(["object", "variables", ...REQUEST_NAMES].map((name) => [name, "here is `ref` only"])),
  };
};

/**
 * A compiler of policies' expressions; keep one for all policies of a kind that are loaded together. With a {@link Watcher} its programs are
 * watched.
 */
export const createCompiler = (namespaced: boolean, watcher?: Watcher, mutating = false): ExpressionCompiler =>
  new ExpressionCompiler(createDialect(namespaced, mutating), watcher);

interface ByScope {
  readonly clustered: ExpressionCompiler;
  readonly namespaced: ExpressionCompiler;
}

/** Compilers of all kinds of policies; keep them for everything that is loaded together. */
export interface Compilers extends ByScope {
  /** Those of mutating policies. */
  readonly mutating: ByScope;
  /** Those of ImageValidatingPolicies, and of their `matchImageReferences`. */
  readonly images: ByScope & { readonly references: ExpressionCompiler };
}

/** Makes compilers; with a {@link Watcher} their programs are watched. */
export const createCompilers = (watcher?: Watcher): Compilers => ({
  clustered: createCompiler(false, watcher),
  namespaced: createCompiler(true, watcher),
  mutating: { clustered: createCompiler(false, watcher, true), namespaced: createCompiler(true, watcher, true) },
  images: {
    clustered: new ExpressionCompiler(createImageDialect(false), watcher),
    namespaced: new ExpressionCompiler(createImageDialect(true), watcher),
    references: new ExpressionCompiler(createReferenceDialect(), watcher),
  },
});
