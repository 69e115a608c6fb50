/** The API server's answer to writing a policy or binding. */
import type { ReadDocument } from "../../../kinds/admission-policy/read.js";
import { GROUP, type Resource } from "../../../kinds/admission-policy/resource.js";
import { effectiveName, metadataWarnings, type Writing } from "../../../kinds/shared/decode/validate-metadata.js";
import { aggregate, type FieldError, formatFieldError, goQuote } from "../../../kubernetes/field-error.js";
import { text } from "../../../kubernetes/object.js";

/** The answer. */
export type StaticResult =
  | { readonly valid: true; readonly warnings?: readonly string[] }
  | {
      readonly valid: false;
      /** The field errors in the server's order. */
      readonly errors?: readonly string[];
      readonly code: number;
      readonly reason: string;
      /** The message to the client. */
      readonly message: string;
    };

/** The answer to a document that is neither a policy nor a binding. */
export function refusedUnread(
  read: Extract<ReadDocument<unknown, unknown>, { readonly kind: "unreadable" | "other" }>,
  object: unknown,
): StaticResult {
  const message = read.kind === "other" ? `no kind ${goQuote(text(object, "kind"))} is registered` : read.message;
  return { valid: false, code: 400, reason: "BadRequest", message };
}

/** The answer to a policy or a binding with these errors. */
export function answered(
  { kind, metadata }: Resource<unknown>,
  errors: readonly FieldError[],
  writing: Writing,
): StaticResult {
  if (errors.length === 0) {
    const warnings = metadataWarnings(metadata, writing).map((warning) => warning.text);
    return { valid: true, ...(warnings.length > 0 && { warnings }) };
  }
  const texts = errors.map(formatFieldError);
  const message = `${kind}.${GROUP} ${goQuote(effectiveName(metadata))} is invalid: ${aggregate(texts)}`;
  return { valid: false, errors: texts, code: 422, reason: "Invalid", message };
}
