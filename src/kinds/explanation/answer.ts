/** Explains an answer as data: the question, the outcome, and the expressions with their values, or a group's members. */
import { CelError, explain, type Value } from "../../cel/index.js";
import type { Outcome, Policy } from "../../policy/index.js";
import {
  type Asking,
  type Evaluated,
  type ExplainedPolicy,
  type ExplainedVariant,
  isExplainable,
  type PlacedExpression,
} from "../shared/index.js";
import { explainedValue } from "./parts.js";
import { SizeBudget } from "./size-budget.js";
import type { ExplainedAnswer, ExplainedExpression, ExplainedPart, ExplainedValue } from "./types.js";
import { valueText } from "./value-text.js";

/** The path of a group's expression in its entry. */
const GROUP_EXPRESSION = "expression";

/** An expression at its place in a policy, with each different value that it had; empty when there is no room for it. */
function explainedExpression(
  { path, name, expression }: PlacedExpression,
  asking: Asking,
  room: SizeBudget,
): readonly ExplainedExpression[] {
  const { source, program, error } = expression;
  if (!room.take(path, name, source, error)) return [];
  const failed = program === undefined ? { error: error ?? "" } : {};
  const evaluations = different(asking.evaluations(program).map((each) => evaluated(each, source, room)));
  return [{ path, ...(name !== undefined && name !== "" && { name }), source, ...failed, evaluations }];
}

/** A group's expression, with its last evaluation: earlier attempts still waited for members' answers. */
function groupExpression(all: readonly Evaluated[], room: SizeBudget): readonly ExplainedExpression[] {
  const last = all.at(-1);
  if (last === undefined || !room.take(GROUP_EXPRESSION, last.program.source)) return [];
  const { source } = last.program;
  return [{ path: GROUP_EXPRESSION, source, evaluations: [evaluated(last, source, room)] }];
}

function evaluated({ program, values, result }: Evaluated, written: string, room: SizeBudget): ExplainedValue {
  const { parsed } = program;
  // The compiled text may be a trimmed form of the written one.
  const at = written.indexOf(parsed.source);
  const whole = explainedValue(explain(parsed, values), { room, shift: at < 0 ? undefined : at });
  return { ...whole, value: valueText(result), failed: result instanceof CelError };
}

/** The different evaluations: repeated attempts give equal ones. */
function different(evaluations: readonly ExplainedValue[]): readonly ExplainedValue[] {
  if (evaluations.length < 2) return evaluations;
  return [...new Map(evaluations.map((each) => [JSON.stringify(each), each])).values()];
}

/** The members of a group, in order of definition, each by the name that it has there. */
export type MembersOf = (group: Policy) => ReadonlyMap<string, Policy>;

/**
 * The explanation of one answer.
 * @param outcome the final outcome: time may have been up before the policy answered
 */
export function explainAnswer(asking: Asking, outcome: Outcome, membersOf: MembersOf): ExplainedAnswer {
  return answerOf(asking, outcome, { membersOf, room: new SizeBudget() });
}

/** The state that all answers below one share. */
interface Explaining {
  readonly membersOf: MembersOf;
  readonly room: SizeBudget;
}

function answerOf(asking: Asking, outcome: Outcome | undefined, explaining: Explaining): ExplainedAnswer {
  const { policy, milliseconds } = asking;
  const argument = argumentOf(asking);
  const message = messageOf(outcome);
  const common = {
    name: asking.name,
    ...(argument !== undefined && { argument }),
    implementation: policy.implementation,
    outcome: outcome?.verdict ?? "no answer",
    ...(message !== undefined && { message }),
    ...(milliseconds !== undefined && { milliseconds }),
  } as const;
  if (policy.kind === "group") return { ...common, ...groupOf(asking, explaining) };
  const policies = (policy.together ?? [policy]).filter(isExplainable).flatMap((part) => part.explained());
  const parts = policies.flatMap((each) => partsOf(each, asking, outcome, explaining.room));
  return { ...common, parts, members: [], left: 0 };
}

const messageOf = (outcome: Outcome | undefined): string | undefined =>
  outcome?.verdict === "skip" ? outcome.reason : outcome?.message;

/** The value that a member was asked about, where it is not the request itself. */
function argumentOf({ review }: Asking): string | undefined {
  if (review.targeted !== true) return undefined;
  const value = review.kind === "raw" ? review.payload : review.request.object;
  return valueText((value ?? null) as Value);
}

function groupOf(asking: Asking, explaining: Explaining): Pick<ExplainedAnswer, "parts" | "members" | "left"> {
  const { membersOf, room } = explaining;
  const explained = isExplainable(asking.policy) ? asking.policy.explained() : [];
  const texts = explained.flatMap(({ variants }) => variants.flatMap(({ expressions }) => expressions));
  const later = new Set(texts.flatMap(({ expression }) => asking.evaluations(expression.program)));
  const deciding = asking.all.filter((each) => !later.has(each));
  const first = groupExpression(deciding, room);
  const expressions = [...first, ...texts.flatMap((text) => explainedExpression(text, asking, room))];
  const parts = [{ title: "", expressions }];
  const members: ExplainedAnswer[] = [];
  let { left } = asking;
  for (const [name, { implementation }] of membersOf(asking.policy)) {
    const times = asking.members.filter((member) => member.name === name);
    if (times.length === 0)
      members.push({ name, implementation, outcome: "not evaluated", parts: [], members: [], left: 0 });
    for (const time of times) {
      const outcome = countedOutcome(time);
      if (room.take(name, messageOf(outcome), argumentOf(time))) members.push(answerOf(time, outcome, explaining));
      else left += 1;
    }
  }
  return { parts, members, left };
}

/** A member's outcome as its group counts it. */
function countedOutcome({ outcome }: Asking): Outcome | undefined {
  const changes = (outcome?.verdict === "allow" || outcome?.verdict === "deny") && outcome.mutation !== undefined;
  return changes
    ? { verdict: "error", message: "it changes the object, which members of a group must not", cause: "mutation" }
    : outcome;
}

function partsOf(
  { title, variants }: ExplainedPolicy,
  asking: Asking,
  outcome: Outcome | undefined,
  room: SizeBudget,
): readonly ExplainedPart[] {
  const shown = variants.filter((variant) => wasAsked(variant, asking));
  if (shown.length === 0) return title === "" ? [] : [{ title, found: whyNotAsked(asking, outcome), expressions: [] }];
  const { review } = asking;
  const kind = review.kind === "raw" ? "" : review.request.kind.kind;
  return shown.map((variant) => {
    const found = asking.found.get(variant.part);
    return {
      title: title !== "" && variant.label !== undefined ? `${title} ${variant.label(kind)}` : title,
      ...(found !== undefined && { found }),
      expressions: wasEvaluated(variant, asking)
        ? variant.expressions.flatMap((expression) => explainedExpression(expression, asking, room))
        : [],
    };
  });
}

const wasAsked = (variant: ExplainedVariant, asking: Asking): boolean =>
  asking.found.has(variant.part) || wasEvaluated(variant, asking);

const wasEvaluated = ({ expressions }: ExplainedVariant, asking: Asking): boolean =>
  expressions.some(({ expression }) => asking.evaluations(expression.program).length > 0);

/** Why a policy was not evaluated: those that an index of the set leaves out are not even matched. */
function whyNotAsked({ found }: Asking, outcome: Outcome | undefined): string {
  if (outcome === undefined || outcome.verdict === "error") return "not evaluated";
  return outcome.verdict === "skip" && found.size === 0 ? `does not apply: ${outcome.reason}` : "does not match";
}
