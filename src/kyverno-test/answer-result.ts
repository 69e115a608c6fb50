/** What reports call a policy's result (spec kyverno.md 7.1). */
import type { PolicyResource, RuleResult } from "../kinds/kyverno/index.js";
import type { AnswerResult } from "./answers.js";

/** The annotation of policies whose failures are warnings only. */
const SCORED = "policies.kyverno.io/scored";

/** The result as a report has it: unscored failures are warnings, and an audit annotation may have the last word. */
export function answerResult(
  { metadata }: PolicyResource,
  { rule, status, message, properties }: RuleResult,
): AnswerResult {
  const result = status === "fail" && metadata.annotations?.[SCORED] === "false" ? "warn" : status;
  return { rule, result, message: properties.message ?? properties[`${result}Message`] ?? message };
}
