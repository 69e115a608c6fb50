/** Mistakes in a policy, as the API server words them, in its order (spec mutating-admission-policy.md 1). */

import { type FieldError, type FieldPath, invalid, notSupported, required } from "../../kubernetes/field-error.js";
import { type CommonValidationOptions, expressionError, validateCommon } from "../admission-policy/validate-common.js";
import { validateMetadata, validateNameSuffix } from "../shared/decode/validate-metadata.js";
import type { Expression } from "../shared/expressions/expression.js";
import { trimSpace } from "../shared/expressions/trim.js";
import type { MatchResources } from "../shared/match/match-resources.js";
import type { CompiledPolicy } from "./compiled-policy.js";
import type { Mutation, MutationMember, PolicyResource } from "./resource.js";

/** The operations; an object that is deleted cannot be mutated. */
const OPERATIONS = ["*", "CONNECT", "CREATE", "UPDATE"];
const PATCH_TYPES = ["ApplyConfiguration", "JSONPatch"];
const REINVOCATION_POLICIES = ["IfNeeded", "Never"];

/** The mistakes of a policy that has its defaults, its expressions compiled as written. */
export function validatePolicy(
  { metadata, spec }: PolicyResource,
  compiled: CompiledPolicy,
  options: Omit<CommonValidationOptions, "validateRules"> = {},
): FieldError[] {
  const { mutations = [], reinvocationPolicy = "" } = spec;
  const path = ["spec"];
  const errors = validateMetadata(metadata, options);
  errors.push(...validateCommon(spec, compiled, path, { ...options, validateRules: validateOperations }));
  if (mutations.length === 0) {
    errors.push(required([...path, "mutations"], "mutations must contain at least one item"));
  }
  mutations.forEach((mutation, i) => {
    errors.push(...validateMutation(mutation, compiled.mutations[i]?.expressions[0], [...path, "mutations", i]));
  });
  const reinvocation = [...path, "reinvocationPolicy"];
  if (reinvocationPolicy === "") errors.push(required(reinvocation));
  else if (!REINVOCATION_POLICIES.includes(reinvocationPolicy)) {
    errors.push(notSupported(reinvocation, reinvocationPolicy, REINVOCATION_POLICIES));
  }
  errors.push(...validateNameSuffix(metadata, options));
  return errors;
}

/** The mistakes of rules, of policies and bindings, that name operations without mutations. */
export function validateOperations({ resourceRules = [] }: MatchResources, path: FieldPath): FieldError[] {
  const at = [...path, "resourceRules", "operations"];
  return resourceRules
    .flatMap(({ operations = [] }) => operations)
    .filter((operation) => !OPERATIONS.includes(operation))
    .map((operation) => notSupported(at, operation, OPERATIONS));
}

function validateMutation(mutation: Mutation, compiled: Expression | undefined, path: FieldPath): FieldError[] {
  switch (mutation.patchType ?? "") {
    case "":
      return [required([...path, "patchType"])];
    case "JSONPatch":
      return validateMembers(mutation, compiled, "jsonPatch", "applyConfiguration", path);
    case "ApplyConfiguration":
      return validateMembers(mutation, compiled, "applyConfiguration", "jsonPatch", path);
    default:
      return [notSupported([...path, "patchType"], mutation.patchType ?? "", PATCH_TYPES)];
  }
}

function validateMembers(
  mutation: Mutation,
  compiled: Expression | undefined,
  own: MutationMember,
  other: MutationMember,
  path: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  const { patchType } = mutation;
  const given = mutation[own];
  if (given === undefined) errors.push(required([...path, own], `must be specified when patchType is ${patchType}`));
  else {
    const trimmed = trimSpace(given.expression ?? "");
    const at = [...path, own, "expression"];
    errors.push(...(trimmed === "" ? [required(at)] : expressionError(compiled, trimmed, at)));
  }
  if (mutation[other] !== undefined) {
    errors.push(invalid([...path, other], `{${other}}`, `must not be specified when patchType is ${patchType}`));
  }
  return errors;
}
