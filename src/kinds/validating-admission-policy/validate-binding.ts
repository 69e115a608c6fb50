/** Mistakes in a binding, as the API server words them, in its order (spec validating-admission-policy.md 1.2 and 1.5). */
import { validateParamRef } from "../../admission-policy/validate-param-ref.js";
import { validateMetadata, validateNameSuffix } from "../../cel-policy/decode/validate-metadata.js";
import { validateMatch } from "../../cel-policy/match/validate-match.js";
import {
  duplicate,
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
} from "../../kubernetes/field-error.js";
import { dns1123SubdomainErrors } from "../../kubernetes/name-formats.js";
import type { BindingResource } from "./resource.js";

/** The actions, as the API server lists them. */
const VALIDATION_ACTIONS = ["Audit", "Deny", "Warn"];

/** The mistakes of a binding that has its defaults. */
export function validateBinding({ metadata, spec }: BindingResource): FieldError[] {
  const { policyName = "", paramRef, matchResources, validationActions = [] } = spec;
  const errors = validateMetadata(metadata);
  const policy = ["spec", "policyName"];
  if (policyName !== "") {
    errors.push(...dns1123SubdomainErrors(policyName).map((error) => invalid(policy, policyName, error)));
  }
  if (paramRef !== undefined) errors.push(...validateParamRef(paramRef, ["spec", "paramRef"]));
  if (matchResources !== undefined) errors.push(...validateMatch(matchResources, ["spec", "matchResources"]));
  errors.push(...validateActions(validationActions, ["spec", "validationActions"]));
  errors.push(...validateNameSuffix(metadata));
  // What is missing is said last.
  if (policyName === "") errors.push(required(policy));
  if (validationActions.length === 0) errors.push(required(["spec", "validationActions"]));
  return errors;
}

/** The mistakes of a list of actions that is not empty. */
export function validateActions(actions: readonly string[], path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  actions.forEach((action, i) => {
    if (!VALIDATION_ACTIONS.includes(action)) errors.push(notSupported([...path, i], action, VALIDATION_ACTIONS));
    if (seen.has(action)) errors.push(duplicate([...path, i], action));
    seen.add(action);
  });
  if (seen.has("Deny") && seen.has("Warn")) {
    const detail =
      "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)";
    errors.push(invalid(path, actions, detail));
  }
  return errors;
}
