/** What reports call a policy's result (spec kyverno.md 7.1). */
import type { PolicyResource } from "../kinds/kyverno/index.js";
import type { Finding } from "../reports/finding.js";
import { resultEntry } from "../reports/result-entry.js";
import { reportedPolicy } from "../scan/kyverno-judge.js";
import type { AnswerResult } from "./answers.js";

/** Nothing of a resource is compared. */
const NO_RESOURCE = { apiVersion: "", kind: "", namespace: "", name: "", uid: "", resourceVersion: "" };

/** What of a result is reported. */
type RuleAnswer = Pick<Finding, "rule" | "status" | "message" | "properties">;

/** The result as a report has it: unscored failures are warnings, and an audit annotation may have the last word. */
export function answerResult(policy: PolicyResource, { rule, status, message, properties }: RuleAnswer): AnswerResult {
  const finding = { policy: 0, rule, status, message, properties, exceptions: [] };
  const entry = resultEntry(reportedPolicy(policy), finding, NO_RESOURCE, { auditWarn: false, time: 0 });
  return { rule, result: entry.result, message: entry.message ?? "" };
}
