/** A policy's result in reports (spec kyverno.md 7.1). */
import type { Finding, ReportedPolicy } from "../reports/finding.js";
import { resultEntry } from "../reports/result-entry.js";
import type { AnswerResult } from "./answers.js";

/** A placeholder: fields of the resource are not compared. */
const NO_RESOURCE = { apiVersion: "", kind: "", namespace: "", name: "", uid: "", resourceVersion: "" };

/** The result in a report: unscored failures are warnings, and an audit annotation may override it. */
export function reportedResult(policy: ReportedPolicy, finding: Finding): AnswerResult {
  const { result, message = "" } = resultEntry(policy, finding, NO_RESOURCE, { auditWarn: false, time: 0 });
  return { rule: finding.rule, result, message };
}
