/** The ValidatingAdmissionPolicy of a Constraint whose template is in CEL (gatekeeper 3.23.1, pkg/drivers/k8scel). */
import { fieldProblem } from "../../../config/documents/field-problem.js";
import type { Path } from "../../../config/documents/problem.js";
import { stringifyJson } from "../../../data/json.js";
import { validateMetadata } from "../../../kinds/shared/decode/validate-metadata.js";
import type { ExpressionCompiler } from "../../../kinds/shared/index.js";
import { prepareInline } from "../../../kinds/validating-admission-policy/index.js";
import { isObject, type JsonObject } from "../../../kubernetes/object.js";
import { celLiteral } from "../cel-literal.js";
import type { Converted } from "../conversion.js";
import type { Reading } from "../reading.js";
import type { Bound } from "./template.js";

const SELECTORS: Readonly<Record<string, string>> = {
  objectSelector: "labelSelector",
  namespaceSelector: "namespaceSelector",
};
const API_VERSION = "admissionregistration.k8s.io/v1";

/** The policy; its mistakes are at their places in the template and the Constraint. */
export function celPolicy(parts: Bound, source: JsonObject, compiler: ExpressionCompiler): Converted | undefined {
  const { template, constraint, matched, actions, name, comments } = parts;
  const { path } = template.code;
  if (template.reading.failed || constraint.failed) return undefined;
  const listed = (key: string): readonly JsonObject[] => template.reading.list([...path, key]).filter(isObject);
  const own = ownVariables(source, parts.parameters);
  const named = (key: string): readonly JsonObject[] => listed(key).map((each) => picked(each, ["name", "expression"]));
  const matchConditions = [...matched.conditions, ...named("matchCondition")];
  const variables = [...own, ...named("variables")];
  const { matchConstraints, scopes } = matched;
  const spec: JsonObject = {
    failurePolicy: source.failurePolicy ?? "Fail",
    matchConstraints,
    ...(matchConditions.length > 0 && { matchConditions }),
    ...(variables.length > 0 && { variables }),
    validations: listed("validations").map(validation),
  };
  /** The place of a mistake, of which the first items of some lists are the Constraint's. */
  const placed = ([key = "", index = 0, ...rest]: Path): readonly [Reading, Path] => {
    const before = key === "variables" ? own.length : key === "matchConditions" ? matched.conditions.length : 0;
    const list = key === "matchConditions" ? "matchCondition" : key;
    if (key === "failurePolicy") return [template.reading, [...path, key]];
    if (typeof index === "number" && index >= before)
      return [template.reading, [...path, list, index - before, ...rest]];
    if (key === "variables") return [constraint, ["spec", "parameters"]];
    const selector = SELECTORS[index];
    return [constraint, ["spec", "match", ...(selector === undefined ? [] : [selector, ...rest])]];
  };
  const labels = metadataOf(constraint, "labels");
  const annotations = { ...metadataOf(template.reading, "annotations"), ...metadataOf(constraint, "annotations") };
  for (const { path: at, text } of constraint.failed ? [] : validateMetadata({ name, labels, annotations }))
    constraint.error(at, text);
  const hasFailed = (): boolean => template.reading.failed || constraint.failed;
  const entries = scopes.map(({ suffix, matchResources }): readonly [string, JsonObject] => {
    const cel = { ...spec, matchConstraints: { ...matchConstraints, ...matchResources } };
    const prepared = hasFailed() ? undefined : prepareInline(cel, { compiler, validationActions: actions });
    for (const error of prepared !== undefined && "errors" in prepared ? prepared.errors : []) {
      const [reading, at] = placed(error.path);
      const mistakes = error.mistakes?.map((mistake) => ({ ...mistake, ...hintOf(mistake.message, error.path) }));
      const hint = hintOf(error.text, error.path);
      reading.problems.push(fieldProblem(reading.document, "error", { ...error, ...hint, path: at, mistakes }));
    }
    const isDenying = actions.join() === "Deny";
    return [`${name}${suffix}`, { cel, ...(!isDenying && { validationActions: actions }) }];
  });
  if (hasFailed()) return undefined;
  const metadata = { name, ...withoutEmpty({ labels, annotations }) };
  const bindings = scopes.map(({ suffix, matchResources }) => ({
    apiVersion: API_VERSION,
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name: `${name}${suffix}` },
    spec: { policyName: name, validationActions: actions, ...withoutEmpty({ matchResources }) },
  }));
  return {
    name,
    comments,
    documents: [{ apiVersion: API_VERSION, kind: "ValidatingAdmissionPolicy", metadata, spec }, ...bindings],
    entries: Object.fromEntries(entries),
    files: new Map(),
    build: "",
  };
}

/** The variables of Gatekeeper that expressions use. */
function ownVariables(source: JsonObject, parameters: unknown): readonly JsonObject[] {
  const text = stringifyJson(source).replaceAll("\\n", " ");
  const uses = (name: string): boolean =>
    new RegExp(`\\bvariables\\s*\\.\\s*\\??\\s*${name}\\b|\\bvariables\\s*\\[`).test(text);
  return [
    ...(uses("anyObject") ? [{ name: "anyObject", expression: "object == null ? oldObject : object" }] : []),
    ...(uses("params") ? [{ name: "params", expression: `dyn(${celLiteral(parameters ?? null)})` }] : []),
  ];
}

const picked = (value: JsonObject, keys: readonly string[]): JsonObject =>
  Object.fromEntries(keys.flatMap((key) => (Object.hasOwn(value, key) ? [[key, value[key]]] : [])));

const withoutEmpty = (maps: Readonly<Record<string, JsonObject>>): JsonObject =>
  Object.fromEntries(Object.entries(maps).filter(([, map]) => Object.keys(map).length > 0));

/** A validation; a message of several lines, which Kubernetes refuses, becomes one line. */
function validation(each: JsonObject): JsonObject {
  const found = picked(each, ["expression", "message", "messageExpression"]);
  if (typeof found.message !== "string") return found;
  const text = found.message.trim();
  if (text === "") return picked(found, ["expression", "messageExpression"]);
  return /[\r\n]/.test(text) ? { ...found, message: text.replaceAll(/\s*[\r\n]+\s*/g, " ") } : found;
}

/** Labels or annotations of an object, without those of kubectl. */
function metadataOf(reading: Reading, key: "annotations" | "labels"): Readonly<Record<string, string>> {
  const path: Path = ["metadata", key];
  const names = Object.keys(reading.map(path) ?? {}).filter((name) => !name.startsWith("kubectl.kubernetes.io/"));
  return Object.fromEntries(names.map((name) => [name, reading.text([...path, name]) ?? ""]));
}

/** A hint for names that are known in Gatekeeper only. */
function hintOf(text: string, [list]: Path): { readonly hint?: string } {
  if (/undeclared reference to 'params'/.test(text))
    return { hint: "write variables.params.x for params.spec.parameters.x" };
  if (list !== "matchConditions" || !/undeclared reference to 'variables'/.test(text)) return {};
  return { hint: "match conditions have no variables in Kubernetes: write out what this one stands for" };
}
