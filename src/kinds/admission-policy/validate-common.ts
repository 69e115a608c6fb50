/** Mistakes of policies of either kind, in the API server's words and order (spec validating-admission-policy.md 1.1, 1.3, 1.5). */

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
import type { Writing } from "../shared/decode/validate-metadata.js";
import type { Expression } from "../shared/expressions/expression.js";
import { RESERVED_WORDS } from "../shared/expressions/reserved-words.js";
import { trimSpace } from "../shared/expressions/trim.js";
import type { MatchResources } from "../shared/match/match-resources.js";
import { validateMatch } from "../shared/match/validate-match.js";
import type { CompiledCommon } from "./compiled-common.js";
import type { CommonPolicySpec, ParamKind } from "./resource.js";

const FAILURE_POLICIES = ["Fail", "Ignore"];
/** Limit of the API. */
const MAX_MATCH_CONDITIONS = 64;

/** Options of the validation. */
export interface CommonValidationOptions extends Writing {
  /** Whether match conditions are stored already, unchanged: they are not checked again. */
  readonly ignoreConditions?: boolean;
  /** The kind's own checks of match rules. */
  readonly validateRules?: (match: MatchResources, path: FieldPath) => readonly FieldError[];
}

/** The mistakes of a spec that has its defaults, before those of the kind's own parts. */
export function validateCommon(
  spec: CommonPolicySpec,
  compiled: CompiledCommon,
  path: FieldPath,
  options: CommonValidationOptions,
): FieldError[] {
  const errors: FieldError[] = [];
  const { failurePolicy, paramKind, matchConstraints } = spec;
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
    errors.push(...(options.validateRules?.(matchConstraints, [...path, "matchConstraints"]) ?? []));
  }
  if (!options.ignoreConditions) errors.push(...validateConditions(spec, compiled, [...path, "matchConditions"]));
  errors.push(...validateVariables(spec, compiled, [...path, "variables"]));
  return errors;
}

/** The mistake of an expression that does not compile; the value printed is the text that was compiled. */
export function expressionError(expression: Expression | undefined, text: string, path: FieldPath): FieldError[] {
  if (expression?.error === undefined) return [];
  const { error, hint, mistakes } = expression;
  const mistake = expression.internal ? internal(path, error) : { ...invalid(path, text, error), mistakes };
  return [{ ...mistake, code: "CEL_EXPRESSION", ...(hint !== undefined && { hint }) }];
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

/** The mistakes of match conditions, of policies and of webhooks. */
export function validateConditions(
  spec: Pick<CommonPolicySpec, "matchConditions">,
  compiled: Pick<CompiledCommon, "matchConditions">,
  path: FieldPath,
): FieldError[] {
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

function validateVariables(spec: CommonPolicySpec, compiled: CompiledCommon, path: FieldPath): FieldError[] {
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
