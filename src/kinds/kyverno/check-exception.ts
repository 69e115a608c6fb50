/** What Kyverno refuses when an exception is created, beside the schema (spec kyverno.md 5.1). */
import { ADMISSION_REQUEST, createEnvironment, DYN, type Environment, NAMESPACE } from "../../cel/index.js";
import {
  duplicate,
  type FieldError,
  type FieldPath,
  invalid,
  required,
  tooMany,
} from "../../kubernetes/field-error.js";
import { qualifiedNameErrors } from "../../kubernetes/name-formats.js";
import { trimSpace } from "../shared/expressions/trim.js";
import { REQUEST_TYPES } from "./dialect.js";
import type { ExceptionResource } from "./resource.js";

/** The most conditions that an exception may have. */
const MAX_MATCH_CONDITIONS = 64;

/** Checks exceptions; keep one for everything that is loaded together. */
export class ExceptionChecker {
  /** An exception is created without the policies that it names: their variables and the functions of Kyverno are unknown here. */
  readonly #plain: Environment = createEnvironment({
    flavour: "kubernetes",
    version: "1.35",
    objectTypes: REQUEST_TYPES,
    variables: [
      { name: "object", type: DYN },
      { name: "oldObject", type: DYN },
      { name: "request", type: ADMISSION_REQUEST },
      { name: "namespaceObject", type: NAMESPACE },
    ],
  });

  /** The mistakes of an exception. */
  check({ spec: { policyRefs = [], matchConditions = [] } }: ExceptionResource): FieldError[] {
    const errors: FieldError[] = [];
    const refs = ["spec", "policyRefs"];
    if (policyRefs.length === 0) errors.push(invalid(refs, [], "must specify at least one policy ref"));
    policyRefs.forEach(({ name = "", kind = "" }, i) => {
      if (name === "") errors.push(invalid([...refs, i, "name"], name, "must specify policy name"));
      if (kind === "") errors.push(invalid([...refs, i, "kind"], kind, "must specify policy kind"));
    });
    const path = ["spec", "matchConditions"];
    if (matchConditions.length > MAX_MATCH_CONDITIONS) {
      errors.push(tooMany(path, matchConditions.length, MAX_MATCH_CONDITIONS));
    }
    const seen = new Set<string>();
    matchConditions.forEach(({ name = "", expression = "" }, i) => {
      errors.push(...this.#expression(expression, [...path, i, "expression"]));
      errors.push(...nameErrors(name, seen, [...path, i, "name"]));
    });
    return errors;
  }

  #expression(expression: string, path: FieldPath): FieldError[] {
    const source = trimSpace(expression);
    if (source === "") return [required(path)];
    const compiled = this.#plain.compile(source);
    if (!compiled.ok) return [invalid(path, source, compiled.text)];
    return compiled.program.type.kind === "bool"
      ? []
      : [invalid(path, source, "output is expected to be of type bool")];
  }
}

/** The mistakes of a condition's name, which is remembered when it has none. */
function nameErrors(name: string, seen: Set<string>, path: FieldPath): FieldError[] {
  if (name === "") return [required(path)];
  const wrong = qualifiedNameErrors(name);
  if (wrong.length > 0) return wrong.map((error) => invalid(path, name, error));
  if (seen.has(name)) return [duplicate(path, name)];
  seen.add(name);
  return [];
}
