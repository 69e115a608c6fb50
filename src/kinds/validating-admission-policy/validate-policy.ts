/** Mistakes in a policy, as the API server words them, in its order (spec validating-admission-policy.md 1.1, 1.3, 1.5). */

import { effectiveName, validateMetadata, validateNameSuffix } from "../../cel-policy/decode/validate-metadata.js";
import type { Expression } from "../../cel-policy/expressions/expression.js";
import { RESERVED_WORDS } from "../../cel-policy/expressions/reserved-words.js";
import { trimSpace } from "../../cel-policy/expressions/trim.js";
import { validateMatch } from "../../cel-policy/match/validate-match.js";
import {
  duplicate,
  type FieldError,
  type FieldPath,
  internal,
  invalid,
  notSupported,
  required,
  tooMany,
} from "../../kubernetes/field-error.js";
import { dns1035LabelErrors, dns1123SubdomainErrors, qualifiedNameErrors } from "../../kubernetes/name-formats.js";
import { parseApiVersion } from "../../kubernetes/names.js";
import type { CompiledPolicy } from "./compiled-policy.js";
import type { AuditAnnotation, ParamKind, PolicyResource, PolicySpec, Validation } from "./resource.js";

const FAILURE_POLICIES = ["Fail", "Ignore"];
const REASONS = ["Forbidden", "Invalid", "RequestEntityTooLarge"];
/** Limits of the API. */
const MAX_MATCH_CONDITIONS = 64;
const MAX_AUDIT_ANNOTATIONS = 20;
const MAX_VALUE_EXPRESSION_BYTES = 5 * 1024;
/** What is checked beside the policy itself. */
export interface PolicyValidationOptions {
  /** Match conditions are stored already, unchanged: they are not checked again. */
  readonly ignoreConditions?: boolean;
  /** Reasons beyond those of the API: the evaluator also knows `Unauthorized`. */
  readonly moreReasons?: readonly string[];
}

/** The mistakes of a policy that has its defaults, its expressions compiled as written. */
export function validatePolicy(
  policy: PolicyResource,
  compiled: CompiledPolicy,
  options: PolicyValidationOptions = {},
): FieldError[] {
  const { metadata, spec } = policy;
  return [
    ...validateMetadata(metadata),
    ...validateSpec(effectiveName(metadata), spec, compiled, ["spec"], options),
    ...validateNameSuffix(metadata),
  ];
}

/** The mistakes of a policy's spec. `name` is the policy's, which the keys of annotations are put behind. */
export function validateSpec(
  name: string,
  spec: PolicySpec,
  compiled: CompiledPolicy,
  path: FieldPath,
  options: PolicyValidationOptions = {},
): FieldError[] {
  const errors: FieldError[] = [];
  const { failurePolicy, paramKind, matchConstraints, validations = [], auditAnnotations = [] } = spec;
  if (failurePolicy === undefined) errors.push(required([...path, "failurePolicy"]));
  else if (!FAILURE_POLICIES.includes(failurePolicy)) {
    errors.push(notSupported([...path, "failurePolicy"], failurePolicy, FAILURE_POLICIES));
  }
  if (paramKind !== undefined) errors.push(...validateParamKind(paramKind, [...path, "paramKind"]));
  if (matchConstraints === undefined) errors.push(required([...path, "matchConstraints"]));
  else {
    errors.push(...validateMatch(matchConstraints, [...path, "matchConstraints"]));
    if ((matchConstraints.resourceRules ?? []).length === 0) {
      errors.push(required([...path, "matchConstraints", "resourceRules"]));
    }
  }
  if (!options.ignoreConditions) errors.push(...validateConditions(spec, compiled, [...path, "matchConditions"]));
  errors.push(...validateVariables(spec, compiled, [...path, "variables"]));

  if (validations.length === 0 && auditAnnotations.length === 0) {
    const detail = "validations or auditAnnotations must contain at least one item";
    errors.push(required([...path, "validations"], detail), required([...path, "auditAnnotations"], detail));
    return errors;
  }
  validations.forEach((validation, i) => {
    const { validations: expressions, messages } = compiled;
    errors.push(...validateValidation(validation, expressions[i], messages[i], [...path, "validations", i], options));
  });
  errors.push(...validateAnnotations(name, auditAnnotations, compiled, [...path, "auditAnnotations"]));
  return errors;
}

/** The mistake of an expression that does not compile; the value printed is the text that was compiled. */
function expressionError(expression: Expression | undefined, text: string, path: FieldPath): FieldError[] {
  if (expression?.error === undefined) return [];
  return [expression.internal ? internal(path, expression.error) : invalid(path, text, expression.error)];
}

function validateParamKind({ apiVersion = "", kind = "" }: ParamKind, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const at = [...path, "apiVersion"];
  const version = parseApiVersion(apiVersion);
  if (apiVersion === "") errors.push(required(at));
  else if (version === undefined) {
    errors.push(invalid(at, apiVersion, `unexpected GroupVersion string: ${apiVersion}`));
  } else {
    const { group } = version;
    if (group !== "") errors.push(...joined(at, group, dns1123SubdomainErrors(group)));
    if (version.version === "") errors.push(invalid(at, apiVersion, "version must be specified"));
    else errors.push(...joined(at, version.version, dns1035LabelErrors(version.version)));
  }
  if (kind === "") errors.push(required([...path, "kind"]));
  else {
    const wrong = dns1035LabelErrors(kind.toLowerCase());
    const detail = `may have mixed case, but should otherwise match: ${wrong.join(",")}`;
    if (wrong.length > 0) errors.push(invalid([...path, "kind"], kind, detail));
  }
  return errors;
}

const joined = (path: FieldPath, value: string, errors: readonly string[]): FieldError[] =>
  errors.length === 0 ? [] : [invalid(path, value, errors.join(","))];

function validateConditions(spec: PolicySpec, compiled: CompiledPolicy, path: FieldPath): FieldError[] {
  const conditions = spec.matchConditions ?? [];
  const errors: FieldError[] = [];
  if (conditions.length > MAX_MATCH_CONDITIONS) errors.push(tooMany(path, conditions.length, MAX_MATCH_CONDITIONS));
  const seen = new Set<string>();
  conditions.forEach(({ name = "", expression = "" }, i) => {
    const trimmed = trimSpace(expression);
    if (trimmed === "") errors.push(required([...path, i, "expression"]));
    else errors.push(...expressionError(compiled.matchConditions[i], trimmed, [...path, i, "expression"]));
    const at = [...path, i, "name"];
    if (name === "") {
      errors.push(required(at));
      return;
    }
    errors.push(...qualifiedNameErrors(name).map((error) => invalid(at, name, error)));
    if (seen.has(name)) errors.push(duplicate(at, name));
    seen.add(name);
  });
  return errors;
}

function validateVariables(spec: PolicySpec, compiled: CompiledPolicy, path: FieldPath): FieldError[] {
  return (spec.variables ?? []).flatMap(({ name = "", expression = "" }, i) => {
    const errors: FieldError[] = [];
    if (trimSpace(name) === "") errors.push(required([...path, i, "name"], "name is not specified"));
    else if (!/^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) || RESERVED_WORDS.has(name)) {
      errors.push(invalid([...path, i, "name"], name, "must be a valid CEL identifier"));
    }
    if (trimSpace(expression) === "") errors.push(required([...path, i, "expression"], "expression is not specified"));
    else errors.push(...expressionError(compiled.variables[i], expression, [...path, i, "expression"]));
    return errors;
  });
}

function validateValidation(
  { expression = "", message = "", messageExpression = "", reason }: Validation,
  compiled: Expression | undefined,
  compiledMessage: Expression | undefined,
  path: FieldPath,
  { moreReasons = [] }: PolicyValidationOptions,
): FieldError[] {
  const errors: FieldError[] = [];
  const blank = "must be non-empty if specified";
  if (trimSpace(expression) === "") errors.push(required([...path, "expression"], "expression is not specified"));
  else errors.push(...expressionError(compiled, expression, [...path, "expression"]));
  if (messageExpression !== "" && trimSpace(messageExpression) === "") {
    errors.push(invalid([...path, "messageExpression"], messageExpression, blank));
  } else {
    errors.push(...expressionError(compiledMessage, messageExpression, [...path, "messageExpression"]));
  }
  const trimmed = trimSpace(message);
  if (message !== "" && trimmed === "") errors.push(invalid([...path, "message"], message, blank));
  else if (/[\n\r]/.test(trimmed)) errors.push(invalid([...path, "message"], message, "must not contain line breaks"));
  if (reason !== undefined && ![...REASONS, ...moreReasons].includes(reason))
    errors.push(notSupported([...path, "reason"], reason, REASONS));
  return errors;
}

function validateAnnotations(
  name: string,
  annotations: readonly AuditAnnotation[],
  compiled: CompiledPolicy,
  path: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  if (annotations.length > MAX_AUDIT_ANNOTATIONS) {
    // Lists of objects print with the member names of Go's structs.
    const value = annotations.map(({ key = "", valueExpression = "" }) => ({
      Key: key,
      ValueExpression: valueExpression,
    }));
    errors.push(invalid(path, value, `must not have more than ${MAX_AUDIT_ANNOTATIONS} auditAnnotations`));
  }
  const seen = new Set<string>();
  annotations.forEach(({ key = "", valueExpression = "" }, i) => {
    const at = [...path, i, "key"];
    if (name === "") errors.push(invalid(at, key, "requires metadata.name be non-empty"));
    else {
      const full = `${name}/${key}`;
      errors.push(...qualifiedNameErrors(full).map((error) => invalid(at, full, error)));
    }
    const place = [...path, i, "valueExpression"];
    const trimmed = trimSpace(valueExpression);
    if (trimmed === "") errors.push(required(place, "valueExpression is not specified"));
    else if (Buffer.byteLength(trimmed) > MAX_VALUE_EXPRESSION_BYTES) {
      errors.push(required(place, `must not exceed ${MAX_VALUE_EXPRESSION_BYTES} bytes in length`));
    } else errors.push(...expressionError(compiled.auditAnnotations[i], valueExpression, place));
    if (seen.has(key)) errors.push(duplicate(at, key));
    seen.add(key);
  });
  return errors;
}
