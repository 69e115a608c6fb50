/** Mistakes in a policy, as the API server words them, in its order (spec validating-admission-policy.md 1.1, 1.3, 1.5). */

import {
  duplicate,
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
} from "../../kubernetes/field-error.js";
import { qualifiedNameErrors } from "../../kubernetes/name-formats.js";
import { type CommonValidationOptions, expressionError, validateCommon } from "../admission-policy/validate-common.js";
import { effectiveName, validateMetadata, validateNameSuffix } from "../shared/decode/validate-metadata.js";
import type { Expression } from "../shared/expressions/expression.js";
import { trimSpace } from "../shared/expressions/trim.js";
import type { CompiledPolicy } from "./compiled-policy.js";
import type { AuditAnnotation, PolicyResource, PolicySpec, Validation } from "./resource.js";

const REASONS = ["Forbidden", "Invalid", "RequestEntityTooLarge"];
/** Limits of the API. */
const MAX_AUDIT_ANNOTATIONS = 20;
const MAX_VALUE_EXPRESSION_BYTES = 5 * 1024;
/** Options of the validation. */
export interface PolicyValidationOptions extends CommonValidationOptions {
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
    ...validateMetadata(metadata, options),
    ...validateSpec(effectiveName(metadata), spec, compiled, ["spec"], options),
    ...validateNameSuffix(metadata, options),
  ];
}

/** The mistakes of a policy's spec. `name` is the policy's, the prefix of annotations' keys. */
export function validateSpec(
  name: string,
  spec: PolicySpec,
  compiled: CompiledPolicy,
  path: FieldPath,
  options: PolicyValidationOptions = {},
): FieldError[] {
  const errors = validateCommon(spec, compiled, path, options);
  const { validations = [], auditAnnotations = [] } = spec;
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
