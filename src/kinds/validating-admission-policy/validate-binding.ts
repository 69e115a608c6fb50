/** Mistakes in a binding, as the API server words them, in its order (spec validating-admission-policy.md 1.2 and 1.5). */

import { isSince, type KubernetesVersion, NEWEST_VERSION } from "../../cel/index.js";
import {
  duplicate,
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
} from "../../kubernetes/field-error.js";
import { dns1123SubdomainErrors } from "../../kubernetes/name-formats.js";
import { validateParamRef } from "../admission-policy/validate-param-ref.js";
import { validateMetadata, validateNameSuffix, type Writing } from "../shared/decode/validate-metadata.js";
import { validateMatch } from "../shared/match/validate-match.js";
import type { BindingResource } from "./resource.js";

/** The actions, as the API server lists them. */
const VALIDATION_ACTIONS = ["Audit", "Deny", "Warn"];

/** The first version that reports missing members last, and shortly. */
const MISSING_LAST_SINCE: KubernetesVersion = "1.37";

/** The mistakes of a binding that has its defaults, in the words of a server's version. */
export function validateBinding({ metadata, spec }: BindingResource, writing: Writing = {}): FieldError[] {
  const { policyName = "", paramRef, matchResources, validationActions = [] } = spec;
  const policy = ["spec", "policyName"];
  const actions = ["spec", "validationActions"];
  const last = isSince(writing.version ?? NEWEST_VERSION, MISSING_LAST_SINCE);
  const noPolicy = policyName === "" ? [required(policy)] : [];
  const noActions = last ? required(actions) : required(actions, "at least one validation action is required");
  const missingActions = validationActions.length === 0 ? [noActions] : [];
  return [
    ...validateMetadata(metadata, writing),
    ...(policyName === "" ? [] : dns1123SubdomainErrors(policyName).map((error) => invalid(policy, policyName, error))),
    ...(last ? [] : noPolicy),
    ...(paramRef === undefined ? [] : validateParamRef(paramRef, ["spec", "paramRef"])),
    ...(matchResources === undefined ? [] : validateMatch(matchResources, ["spec", "matchResources"])),
    ...(last ? [] : missingActions),
    ...validateActions(validationActions, actions),
    ...validateNameSuffix(metadata, writing),
    ...(last ? [...noPolicy, ...missingActions] : []),
  ];
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
