import {
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from "../../kubernetes/field-error.js";
import { pathSegmentErrors } from "../../kubernetes/name-formats.js";
import { validateSelector } from "../shared/match/validate-match.js";
import type { ParamRef } from "./resource.js";

const NOT_FOUND_ACTIONS = ["Deny", "Allow"];

/** The mistakes of a binding's paramRef that has its defaults (spec validating-admission-policy.md 1.2). */
export function validateParamRef(ref: ParamRef, path: FieldPath): FieldError[] {
  const { name = "", selector, parameterNotFoundAction = "" } = ref;
  const errors: FieldError[] = pathSegmentErrors(name).map((error) => invalid([...path, "name"], name, error));
  const both = name !== "" && selector !== undefined;
  const exclusive = "name and selector are mutually exclusive";
  if (both) errors.push(forbidden([...path, "name"], exclusive));
  if (selector !== undefined) errors.push(...validateSelector(selector, [...path, "selector"]));
  if (both) errors.push(forbidden([...path, "selector"], exclusive));
  if (name === "" && selector === undefined) errors.push(required(path, "one of name or selector must be specified"));
  const action = [...path, "parameterNotFoundAction"];
  if (parameterNotFoundAction === "") errors.push(required(action));
  else if (!NOT_FOUND_ACTIONS.includes(parameterNotFoundAction)) {
    errors.push(notSupported(action, parameterNotFoundAction, NOT_FOUND_ACTIONS));
  }
  return errors;
}
