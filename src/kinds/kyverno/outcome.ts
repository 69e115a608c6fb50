/** The results of policies as the Outcome of one policy, in the words of Kyverno's webhook (spec kyverno.md 2.6). */
import type { Found, Outcome, ReportedFindings } from "../../policy/outcome.js";
import { findsSomething, JUDGES_NOTHING } from "./check-policy.js";
import type { CompiledPolicy } from "./compiled-policy.js";
import type { EngineAnswer } from "./engine/engine.js";
import type { PolicyResponse, RuleResult } from "./engine/response.js";
import { INDEX_PROPERTY } from "./engine/rule-result.js";

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
  let applies = false;
  let isEmpty = false;
  let skipped: RuleResult | undefined;
  for (const { policy, result } of responses) {
    if (result === undefined) continue;
    const { status } = result;
    if (status === "skip") skipped ??= result;
    else if (findsSomething(policy.resource.spec)) applies = true;
    else isEmpty = true;
    if (status === "pass" || status === "skip") continue;
    const judgement = { policy, result };
    const actions = override ?? policy.actions;
    if (actions.includes("Deny")) denials.push(judgement);
    if (actions.includes("Warn")) warnings.push(sentenceOf(judgement));
    for (const action of actions) {
      if (action === "Audit" || action === "Warn") found.push(foundOf(action, judgement, actions));
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
  if (isEmpty) return { verdict: "skip", reason: `there are no validations: ${JUDGES_NOTHING}` };
  if (skipped === undefined) return { verdict: "skip", reason: "no resource rule matches" };
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
  `Policy ${policy.resource.metadata.name ?? ""} ${status === "fail" ? "failed" : "error"}: ${message}`;

const foundOf = (action: Found["action"], { policy, result }: Judgement, actions: readonly string[]): Found => ({
  action,
  message: result.message,
  policy: policy.resource.metadata.name ?? "",
  index: Number(result.properties[INDEX_PROPERTY] ?? 0),
  actions,
});

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
