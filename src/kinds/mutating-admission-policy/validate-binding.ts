/** Mistakes in a binding, as the API server words them, in its order (spec mutating-admission-policy.md 1). */

import { type FieldError, invalid, required } from "../../kubernetes/field-error.js";
import { dns1123SubdomainErrors } from "../../kubernetes/name-formats.js";
import { validateParamRef } from "../admission-policy/validate-param-ref.js";
import { validateMetadata, validateNameSuffix, type Writing } from "../shared/decode/validate-metadata.js";
import { validateMatch } from "../shared/match/validate-match.js";
import type { BindingResource } from "./resource.js";
import { validateOperations } from "./validate-policy.js";

/** The mistakes of a binding that has its defaults, in the words of the server that writes it. */
export function validateBinding({ metadata, spec }: BindingResource, writing: Writing = {}): FieldError[] {
  const { policyName = "", paramRef, matchResources } = spec;
  const errors = validateMetadata(metadata, writing);
  const policy = ["spec", "policyName"];
  if (policyName === "") errors.push(required(policy));
  else errors.push(...dns1123SubdomainErrors(policyName).map((error) => invalid(policy, policyName, error)));
  if (paramRef !== undefined) errors.push(...validateParamRef(paramRef, ["spec", "paramRef"]));
  if (matchResources !== undefined) {
    const at = ["spec", "matchResources"];
    errors.push(...validateMatch(matchResources, at), ...validateOperations(matchResources, at));
  }
  errors.push(...validateNameSuffix(metadata, writing));
  return errors;
}
