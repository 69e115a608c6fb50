import type { Problem } from "../config/documents/problem.js";
import type { Warn } from "./kind.js";
import { LoadError } from "./load-error.js";

/**
 * Reports warnings, also for documents that have errors: so both can be corrected at once.
 * @throws LoadError with the errors, where there are any
 */
export function reportOrThrow(problems: readonly Problem[], warn: Warn): void {
  for (const problem of problems) if (problem.severity !== "error") warn(problem);
  const errors = problems.filter(({ severity }) => severity === "error");
  if (errors.length > 0) throw LoadError.of(errors);
}
