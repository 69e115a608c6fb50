/** The expressions of admission policies of both kinds: their names, cost and messages (spec validating-admission-policy.md 5 and 9). */
import {
  ADMISSION_REQUEST,
  ADMISSION_TYPES,
  AUTHORIZER,
  behaviourOf,
  DYN,
  formatLongType,
  type KubernetesVersion,
  listType,
  mapType,
  NAMESPACE,
  RESOURCE_CHECK,
  type Type,
} from "../../cel/index.js";
import { type Dialect, VARIABLES_TYPE } from "../shared/dialect.js";
import { RESERVED_WORDS } from "../shared/expressions/reserved-words.js";

/** The version as which stored policies are evaluated, unless another one is asked for: the newest that is released. */
export const STORED_VERSION: KubernetesVersion = "1.37";

/**
 * The dialect of ValidatingAdmissionPolicies in a version of Kubernetes.
 * @param release the server that evaluates
 */
export const admissionDialect = (version: KubernetesVersion, release = version): Dialect => ({
  environment: {
    flavour: "kubernetes",
    version,
    behaviour: behaviourOf(release),
    objectTypes: ADMISSION_TYPES,
    variables: [
      { name: "object", type: DYN },
      { name: "oldObject", type: DYN },
      { name: "request", type: ADMISSION_REQUEST },
      { name: "namespaceObject", type: NAMESPACE },
    ],
  },
  optional: {
    params: [{ name: "params", type: DYN }],
    authorizer: [
      { name: "authorizer", type: AUTHORIZER },
      { name: "authorizer.requestResource", type: RESOURCE_CHECK },
    ],
  },
  variables: { typeName: VARIABLES_TYPE, nameOf: unescapedName },
  knownNames: KNOWN_NAMES,
  costs: { expression: 1_000_000, evaluation: 10_000_000, conditions: 2_500_000 },
  words: {
    notCompiled: (text, internal) => `${internal ? "program instantiation" : "compilation"} failed: ${text}`,
    wrongType: (wanted, type) => {
      const types = wanted === "string-or-null" ? "one of [string null_type]" : wanted;
      return `must evaluate to ${types} but got ${formatLongType(type)}`;
    },
    failed: (source, error) => `expression '${source}' resulted in error: ${error}`,
    uncompiled: (error) => `compilation error: ${error}`,
    failedVariable: (name, error) => `composited variable "${name}" fails to evaluate: ${error}`,
    uncompiledVariable: (name, error) => `composited variable "${name}" fails to compile: ${error}`,
    outOfBudget: "validation failed due to running out of cost budget, no further validation rules will be run",
  },
});

/** Names that only some policies, or some of their expressions, have. */
const KNOWN_NAMES: ReadonlyMap<string, string> = new Map([
  [
    "params",
    "params are there when spec.paramKind says of what kind they are, and a binding's paramRef which one it is",
  ],
  [
    "variables",
    "variables are those of spec.variables, which match conditions don't see: add it there, or write the expression itself here",
  ],
  ["authorizer", "message expressions can't ask the authorizer: ask it in the validation's expression"],
  ["images", "images and their signatures are Kyverno's: a ValidatingPolicy of policies.kyverno.io can ask about them"],
  ["http", "policies of Kubernetes send no requests: a ValidatingPolicy of policies.kyverno.io can"],
  [
    "globalContext",
    "entries of GlobalContextEntries are Kyverno's: here give the data as parameters, by spec.paramKind",
  ],
  ["exceptions", "exceptions are Kyverno's: here write a match condition, or a variable"],
]);

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["underscores", "__"],
  ["dot", "."],
  ["dash", "-"],
  ["slash", "/"],
]);

/**
 * The name that the API server's evaluator looks up for one in an expression: it takes names for escaped, so that some that look so can
 * never be found (spec validating-admission-policy.md 5.7). `undefined` for a name that looks escaped but is not.
 */
export function unescapedName(name: string): string | undefined {
  if (!name.includes("__")) return name;
  let valid = true;
  const unescaped = name.replace(/__([^_]+)__/g, (whole, word: string) => {
    const character = ESCAPES.get(word);
    if (character !== undefined) return character;
    if (!RESERVED_WORDS.has(word) || whole.length !== name.length) valid = false;
    return word;
  });
  return valid ? unescaped : undefined;
}

/** A variable's type for later expressions: scalars, lists and maps keep theirs, all others are dyn. */
export function variableType(type: Type): Type {
  switch (type.kind) {
    case "list":
      return listType(variableType(type.element));
    case "map":
      return mapType(variableType(type.key), variableType(type.value));
    case "opaque":
    case "object":
    case "type":
    case "param":
    case "wrapper":
    case "error":
      return DYN;
    default:
      return type;
  }
}
