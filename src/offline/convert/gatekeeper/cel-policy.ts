/** The ValidatingAdmissionPolicy of a Constraint whose template is in CEL (gatekeeper 3.23.1, pkg/drivers/k8scel). */
import { fieldProblem } from "../../../config/documents/field-problem.js";
import type { Path } from "../../../config/documents/problem.js";
import { validateMetadata } from "../../../kinds/shared/decode/validate-metadata.js";
import type { ExpressionCompiler } from "../../../kinds/shared/index.js";
import { prepareInline } from "../../../kinds/validating-admission-policy/index.js";
import type { FieldError } from "../../../kubernetes/field-error.js";
import { isObject, type JsonObject, member } from "../../../kubernetes/object.js";
import { celLiteral } from "../cel-literal.js";
import type { CelPolicy } from "../conversion.js";
import type { Reading } from "../reading.js";
import { type Bound, metadataOf } from "./template.js";

/** The variables that Gatekeeper gives to templates. */
const OWN = ["anyObject", "params"] as const;
const RESERVED = "gatekeeper_internal_";
const MEMBERS = ["validations", "failurePolicy", "matchCondition", "variables", "generateVAP"];

/** The policy; its mistakes are at their places in the template and the Constraint. */
export function celPolicy(parts: Bound<"cel">, compiler: ExpressionCompiler): CelPolicy | undefined {
  const { template, ofTemplate, ofConstraint, matched, actions, name, comments } = parts;
  const { source, path } = template.code;
  checkSource(ofTemplate, source, path);
  if (ofTemplate.failed) return undefined;
  const listed = (key: string): readonly JsonObject[] =>
    ((source[key] ?? []) as readonly JsonObject[]).filter(isObject);
  const [own, given] = [ownVariables(source, parts.parameters), listed("matchCondition")];
  const taken = new Set(given.map((condition) => condition.name));
  const conditions = matched.conditions.map((each) =>
    taken.has(each.name) ? { ...each, name: `match-${each.name}` } : each,
  );
  const allConditions = [...conditions, ...given.map((each) => picked(each, ["name", "expression"]))];
  const variables = [...own, ...listed("variables").map((each) => picked(each, ["name", "expression"]))];
  const spec: JsonObject = {
    failurePolicy: source.failurePolicy ?? "Fail",
    matchConstraints: matched.matchConstraints,
    ...(allConditions.length > 0 && { matchConditions: allConditions }),
    ...(variables.length > 0 && { variables }),
    validations: listed("validations").map((each) => validation(each)),
  };
  const lists: Readonly<Record<string, readonly [key: string, before: number]>> = {
    failurePolicy: ["failurePolicy", 0],
    validations: ["validations", 0],
    variables: ["variables", own.length],
    matchConditions: ["matchCondition", conditions.length],
  };
  const placed = ([key, index, ...rest]: Path): readonly [Reading, Path] => {
    const [list, before] = lists[String(key)] ?? ["", Number.POSITIVE_INFINITY];
    if (index === undefined) return [ofTemplate, [...path, list]];
    if (Number(index) >= before) return [ofTemplate, [...path, list, Number(index) - before, ...rest]];
    if (key === "variables") return [ofConstraint, ["spec", "parameters"]];
    const selector = { objectSelector: "labelSelector", namespaceSelector: "namespaceSelector" }[String(index)];
    return [ofConstraint, ["spec", "match", ...(selector === undefined ? [] : [selector, ...rest])]];
  };
  const metadata = {
    labels: metadataOf(ofConstraint, "labels"),
    annotations: { ...metadataOf(ofTemplate, "annotations"), ...metadataOf(ofConstraint, "annotations") },
  };
  if (!ofConstraint.failed)
    for (const { path: at, text } of validateMetadata({ name, ...metadata })) ofConstraint.error(at, text);
  for (const { matchResources } of matched.scopes) {
    const checked = { ...spec, matchConstraints: { ...matched.matchConstraints, ...matchResources } };
    const prepared = prepareInline(checked, { compiler, validationActions: actions });
    for (const error of "errors" in prepared ? prepared.errors : []) {
      const [reading, at] = placed(error.path);
      reading.problems.push(fieldProblem(reading.document, "error", { ...error, path: at, ...explained(error) }));
    }
  }
  if (ofTemplate.failed || ofConstraint.failed) return undefined;
  return {
    name,
    comments,
    ...metadata,
    spec,
    actions,
    scopes: matched.scopes,
  };
}

/** Finds members that Gatekeeper would refuse, and those that it does not read. */
function checkSource(reading: Reading, source: JsonObject, path: Path): void {
  for (const key of Object.keys(source)) {
    if (MEMBERS.includes(key)) continue;
    const hint = key === "matchConditions" ? ": it reads matchCondition" : "";
    reading.note([...path, key], `left out, as Gatekeeper does not read it${hint}`);
  }
  if ((reading.list([...path, "validations"]) ?? []).length === 0)
    reading.error([...path, "validations"], "there is none, so Gatekeeper judges nothing by it");
  for (const key of ["validations", "variables", "matchCondition"])
    for (const index of (reading.list([...path, key]) ?? []).keys()) reading.map([...path, key, index]);
  (reading.list([...path, "variables"]) ?? []).forEach((each, index) => {
    const name = String(member(each, "name") ?? "");
    if (OWN.includes(name as (typeof OWN)[number]) || name.startsWith(RESERVED))
      reading.error([...path, "variables", index, "name"], `Gatekeeper refuses the name ${name}, which is its own`);
  });
}

/** The variables of Gatekeeper that expressions use. */
function ownVariables(source: JsonObject, parameters: unknown): readonly JsonObject[] {
  const texts = JSON.stringify(source, (_key, value: unknown) => (typeof value === "bigint" ? String(value) : value));
  const uses = (name: string): boolean =>
    new RegExp(`\\bvariables\\s*\\.\\s*\\??\\s*${name}\\b|\\bvariables\\s*\\[`).test(texts.replaceAll("\\n", " "));
  return [
    ...(uses("anyObject") ? [{ name: "anyObject", expression: "object == null ? oldObject : object" }] : []),
    ...(uses("params") ? [{ name: "params", expression: `dyn(${celLiteral(parameters ?? null)})` }] : []),
  ];
}

function picked(value: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(keys.flatMap((key) => (Object.hasOwn(value, key) ? [[key, value[key]]] : [])));
}

/** A validation; a message of several lines, which Kubernetes refuses, becomes one line. */
function validation(each: JsonObject): JsonObject {
  const found = picked(each, ["expression", "message", "messageExpression"]);
  const { message } = found;
  if (typeof message !== "string") return found;
  const { message: _, ...rest } = found;
  const line = message.trim().replaceAll(/\s*[\r\n]+\s*/g, " ");
  return line === "" ? rest : { ...found, message: /[\r\n]/.test(message.trim()) ? line : message };
}

/** A hint for names that are known in Gatekeeper only. */
function explained({ text, path }: FieldError): { readonly hint?: string } {
  if (/undeclared reference to 'params'/.test(text))
    return { hint: "write variables.params.x for params.spec.parameters.x" };
  if (path[0] !== "matchConditions" || !/undeclared reference to 'variables'/.test(text)) return {};
  return { hint: "match conditions have no variables in Kubernetes: write out what this one stands for" };
}
