/** Checks the labels of a selector, with the API server's words for errors. */
import { goQuote } from "./field-error.js";
import { labelValueErrors, qualifiedNameErrors } from "./name-formats.js";
import { compareNames } from "./names.js";

/**
 * The error of `matchLabels`; `undefined` when they are valid. Of several wrong pairs the first by its key is reported: the API server's own choice
 * changes from run to run.
 */
export function matchLabelsError(labels: Readonly<Record<string, string>>): string | undefined {
  for (const key of Object.keys(labels).sort(compareNames)) {
    const errors = pairErrors(key, labels[key] ?? "");
    if (errors.length > 0) return errors.length === 1 ? errors[0] : `[${errors.join(", ")}]`;
  }
  return undefined;
}

function pairErrors(key: string, value: string): readonly string[] {
  const errors: string[] = [];
  const ofKey = qualifiedNameErrors(key);
  if (ofKey.length > 0) errors.push(`key: Invalid value: ${goQuote(key)}: ${ofKey.join("; ")}`);
  const ofValue = labelValueErrors(value);
  if (ofValue.length > 0) errors.push(`values[0][${key}]: Invalid value: ${goQuote(value)}: ${ofValue.join("; ")}`);
  return errors;
}
