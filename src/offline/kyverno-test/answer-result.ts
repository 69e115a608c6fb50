/** What reports call a policy's result (spec kyverno.md 7.1). */
import type { Finding, ReportedPolicy } from "../reports/finding.js";
import { resultEntry } from "../reports/result-entry.js";
import type { AnswerResult } from "./answers.js";

/** Nothing of a resource is compared. */
const NO_RESOURCE = { apiVersion: "", kind: "", namespace: "", name: "", uid: "", resourceVersion: "" };

/** The result as a report has it: unscored failures are warnings, and an audit annotation may have the last word. */
export function reportedResult(policy: ReportedPolicy, finding: Finding): AnswerResult {
  const { result, message = "" } = resultEntry(policy, finding, NO_RESOURCE, { auditWarn: false, time: 0 });
  return { rule: finding.rule, result, message };
}
