/**
 * How an answer came about, as text: what was asked, what came of it, and below that the expressions with their values, or a group's members. It
 * shows what requests hold: for the person at the terminal, and nobody else.
 */
import type { Value } from "../../cel/index.js";
import { type Asking, type ExplainedPolicy, type ExplainedVariant, isExplainable } from "../../cel-policy/index.js";
import type { Outcome, Policy } from "../../policy/index.js";
import { printable, valueText } from "../cel/explain-text.js";
import { evaluationLines, expressionLines } from "./expression-lines.js";
import { indented } from "./indented.js";

/** The names of a group's members, in order of definition. */
export type MembersOf = (group: Policy) => readonly string[];

/**
 * The explanation of one answer.
 * @param outcome what it came to in the end
 */
export function explanationText(asking: Asking, outcome: Outcome, membersOf: MembersOf): string {
  return askingLines(asking, asking.name, outcome, membersOf).join("\n");
}

function askingLines(
  asking: Asking,
  label: string,
  outcome: Outcome | undefined,
  membersOf: MembersOf,
): readonly string[] {
  const { policy } = asking;
  const head = `${label} (${policy.implementation}): ${printable(outcomeText(outcome))}`;
  if (policy.kind === "group") return [head, ...indented(groupLines(asking, membersOf))];
  const policies = (policy.together ?? [policy]).filter(isExplainable).flatMap((part) => part.explained());
  return [head, ...indented(policies.flatMap((each) => policyLines(each, asking, outcome)))];
}

function outcomeText(outcome: Outcome | undefined): string {
  switch (outcome?.verdict) {
    case undefined:
      return "no answer in time";
    case "allow":
      return outcome.message === undefined ? "allowed" : `allowed: ${outcome.message}`;
    case "deny":
      return outcome.message === undefined ? "denied" : `denied: ${outcome.message}`;
    case "error":
      return `failed: ${outcome.message}`;
    case "skip":
      return `does not apply: ${outcome.reason}`;
  }
}

function groupLines(asking: Asking, membersOf: MembersOf): readonly string[] {
  // Evaluations before the last one were repeated.
  const expression = asking.all.slice(-1).flatMap(evaluationLines);
  const members = membersOf(asking.policy).flatMap((name) => {
    const times = asking.members.filter((member) => member.name === name);
    if (times.length === 0) return [`${name}: not evaluated`];
    return times.flatMap((time) => askingLines(time, memberLabel(time), countedOutcome(time), membersOf));
  });
  const { left } = asking;
  return [...expression, ...members, ...(left === 0 ? [] : [`and ${left} more times that members were asked`])];
}

/** `image_ok({"name": "web"})` */
function memberLabel({ name, review }: Asking): string {
  if (review.targeted !== true) return name;
  const value = review.kind === "raw" ? review.payload : review.request.object;
  return `${name}(${valueText((value ?? null) as Value)})`;
}

/** A member's outcome as its group counts it. */
function countedOutcome({ outcome }: Asking): Outcome | undefined {
  const changes = (outcome?.verdict === "allow" || outcome?.verdict === "deny") && outcome.mutation !== undefined;
  return changes
    ? { verdict: "error", message: "it changes the object, which members of a group must not", cause: "mutation" }
    : outcome;
}

function policyLines({ title, variants }: ExplainedPolicy, asking: Asking, outcome: Outcome | undefined): string[] {
  const shown = variants.filter((variant) => wasAsked(variant, asking));
  if (shown.length === 0) return title === "" ? [] : [`${title}: ${whyNotAsked(asking, outcome)}`];
  return shown.flatMap((variant) => {
    const lines = wasEvaluated(variant, asking)
      ? variant.expressions.flatMap((expression) => expressionLines(expression, asking))
      : [];
    if (title === "") return lines;
    const { request } = asking.review.kind === "raw" ? { request: undefined } : asking.review;
    const label = variant.label === undefined ? "" : ` ${variant.label(request?.kind.kind ?? "")}`;
    const found = asking.found.get(variant.part);
    return [`${title}${label}${found === undefined ? "" : `: ${printable(found)}`}`, ...indented(lines)];
  });
}

const wasAsked = (variant: ExplainedVariant, asking: Asking): boolean =>
  asking.found.has(variant.part) || wasEvaluated(variant, asking);

const wasEvaluated = ({ expressions }: ExplainedVariant, asking: Asking): boolean =>
  expressions.some(({ expression }) => asking.evaluations(expression.program).length > 0);

/** Policies that an index of the set leaves out are not even asked whether they match. */
function whyNotAsked({ found }: Asking, outcome: Outcome | undefined): string {
  if (outcome === undefined || outcome.verdict === "error") return "not evaluated";
  return outcome.verdict === "skip" && found.size === 0 ? `does not apply: ${outcome.reason}` : "does not match";
}
