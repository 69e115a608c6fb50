/** The results of policies as the Outcome of one policy, in the words of Kyverno's webhook (spec kyverno.md 2.6). */
import type { Outcome, ReportedFindings } from "../../policy/outcome.js";
import type { EngineAnswer } from "./engine/engine.js";
import type { PolicyResponse } from "./engine/response.js";

/**
 * The outcome of an answer.
 * @param actions in place of the policies' own; absent: their own
 */
export function outcomeOf({ responses, failure, detail }: EngineAnswer, actions?: readonly string[]): Outcome {
  const outcome = failure ?? answerOf(responses, actions);
  // A caller that wants reports replaces the actions, so that all failures show; requests are answered without them.
  const report = failure === undefined && actions !== undefined ? reportOf(responses) : undefined;
  if (detail === undefined && report === undefined) return outcome;
  return { ...outcome, ...(detail !== undefined && { detail }), ...(report && { report }) };
}

/** The parts of a report beside the verdict, where one policy has judged the object and reports anything. */
function reportOf(responses: readonly PolicyResponse[]): ReportedFindings | undefined {
  const [only, ...others] = responses.flatMap(({ result }) => result ?? []);
  if (only === undefined || others.length > 0) return undefined;
  const { properties, exceptions } = only;
  if (exceptions.length === 0 && Object.keys(properties).length === 0) return undefined;
  return { properties, exceptions: exceptions.map(({ metadata }) => metadata.name ?? "") };
}

function answerOf(responses: readonly PolicyResponse[], override: readonly string[] | undefined): Outcome {
  const denials: string[] = [];
  const warnings: string[] = [];
  let failed = false;
  let applies = false;
  let skipped: string | undefined;
  for (const { policy, result } of responses) {
    if (result === undefined) continue;
    const { status, message } = result;
    if (status === "skip") skipped ??= result.rule === "" ? "a match condition is false" : message;
    else applies = true;
    if (status === "pass" || status === "skip") continue;
    const actions = override ?? policy.actions;
    const text = `Policy ${policy.resource.metadata.name ?? ""} ${status === "fail" ? "failed" : "error"}: ${message}`;
    if (actions.includes("Deny")) {
      denials.push(text);
      failed ||= status === "fail";
    }
    if (actions.includes("Warn")) warnings.push(text);
  }
  const findings = warnings.length === 0 ? undefined : { warnings };
  if (denials.length > 0) {
    const message = denials.join("; ");
    // A validation that is false denies for certain. If there are only errors, the result is not known: an error must not read as a *no*.
    if (failed) return { verdict: "deny", message, status: { status: "Failure" }, ...findings };
    return { verdict: "error", message, cause: "expression", ...findings };
  }
  if (applies) return { verdict: "allow", ...findings };
  return { verdict: "skip", reason: skipped ?? "no resource rule matches" };
}
