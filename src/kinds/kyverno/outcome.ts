/** The results of policies as the Outcome of one policy, in the words of Kyverno's webhook (spec kyverno.md 2.6). */
import type { Found, Outcome, ReportedFindings } from "../../policy/outcome.js";
import type { CompiledPolicy } from "./compiled-policy.js";
import type { EngineAnswer } from "./engine/engine.js";
import type { PolicyResponse, RuleResult } from "./engine/response.js";
import { INDEX_PROPERTY } from "./engine/rule-result.js";
import { judgesNothing, lacking } from "./resource.js";

/** The outcome of a policy. */
interface Judgement {
  readonly policy: CompiledPolicy;
  readonly result: RuleResult;
}

/**
 * The outcome of an answer.
 * @param actions in place of the policies' own; absent: their own
 */
export function outcomeOf({ responses, failure, detail }: EngineAnswer, actions?: readonly string[]): Outcome {
  const outcome = failure ?? answerOf(responses, actions);
  return detail === undefined ? outcome : { ...outcome, detail };
}

function answerOf(responses: readonly PolicyResponse[], override: readonly string[] | undefined): Outcome {
  const denials: Judgement[] = [];
  const warnings: string[] = [];
  const found: Found[] = [];
  const failed: Judgement[] = [];
  let applies = false;
  let reason = "no resource rule matches";
  let skipped: RuleResult | undefined;
  for (const { policy, result } of responses) {
    if (result === undefined) continue;
    const { status } = result;
    if (status === "skip") skipped ??= result;
    // Kyverno counts it as passed.
    else if (status === "pass" && judgesNothing(policy.resource))
      reason = `the policy ${lacking(policy.resource).split(":")[0]}`;
    else applies = true;
    if (status === "pass" || status === "skip") continue;
    const judgement = { policy, result };
    const actions = override ?? policy.actions;
    if (actions.includes("Deny")) denials.push(judgement);
    if (actions.includes("Warn")) warnings.push(sentenceOf(judgement));
    // Each variant of a policy looks at a payload: what several of them find is one finding.
    const { message, properties } = result;
    if (failed.some((other) => other.policy === policy && other.result.message === message)) continue;
    failed.push(judgement);
    const index = Number(properties[INDEX_PROPERTY] ?? 0);
    for (const action of actions) {
      if (action === "Audit" || action === "Warn")
        found.push({ action, message, policy: nameOf(policy), index, actions });
    }
  }
  const findings = found.length === 0 ? undefined : { ...(warnings.length > 0 && { warnings }), found };
  if (denials.length > 0) {
    const message = denials.map(sentenceOf).join("; ");
    const report = reportOf(denials, responses);
    // A validation that is false denies for certain. When only errors happened, the answer is unknown: an error must not read as a *no*.
    if (denials.some(({ result }) => result.status === "fail"))
      return { verdict: "deny", message, status: { status: "Failure" }, report, ...findings };
    return { verdict: "error", message, cause: "expression", report, ...findings };
  }
  if (applies) return { verdict: "allow", ...findings };
  if (skipped === undefined) return { verdict: "skip", reason };
  return skipped.rule === ""
    ? CONDITION
    : { verdict: "skip", reason: skipped.message, report: { passedOver: "exception", ...findingsOf(skipped) } };
}

const CONDITION: Outcome = {
  verdict: "skip",
  reason: "a match condition is false",
  report: { passedOver: "condition" },
};

const sentenceOf = ({ policy, result: { status, message } }: Judgement): string =>
  `Policy ${nameOf(policy)} ${status === "fail" ? "failed" : "error"}: ${message}`;

const nameOf = ({ resource }: CompiledPolicy): string => resource.metadata.name ?? "";

/** Properties, where one policy alone has judged the object. */
function reportOf(denials: readonly Judgement[], responses: readonly PolicyResponse[]): ReportedFindings {
  const [only, ...others] = responses.flatMap(({ result }) => result ?? []);
  return {
    message: denials.map(({ result }) => result.message).join("; "),
    actions: denials.flatMap(({ policy }) => policy.actions),
    ...(only !== undefined && others.length === 0 && findingsOf(only)),
  };
}

const findingsOf = ({ rule, properties, exceptions }: RuleResult): ReportedFindings => ({
  ...(rule !== "" && { rule }),
  properties,
  ...(exceptions.length > 0 && { exceptions: exceptions.map(({ metadata }) => metadata.name ?? "") }),
});
