/** What an expression of a policy came to, as data. */
import { CelError, explain } from "../../cel/index.js";
import type { Asking, Evaluated, PlacedExpression } from "../shared/index.js";
import { explainedValue } from "./parts.js";
import type { Room } from "./size-budget.js";
import type { ExplainedExpression, ExplainedValue } from "./types.js";
import { valueText } from "./value-text.js";

/** Where a group's expression stands in its entry. */
export const GROUP_EXPRESSION = "expression";

/** An expression as a policy places it, with each different value that it came to; empty when there is no room for it. */
export function explainedExpression(
  { path, name, expression }: PlacedExpression,
  asking: Asking,
  room: Room,
): readonly ExplainedExpression[] {
  const { source, program, error } = expression;
  if (!room.take(path, name, source, error)) return [];
  const failed = program === undefined ? { error: error ?? "" } : {};
  const evaluations = different(asking.evaluations(program).map((each) => evaluated(each, source, room)));
  return [{ path, ...(name !== undefined && name !== "" && { name }), source, ...failed, evaluations }];
}

/** A group's expression, as it was evaluated last: attempts before that were for members whose answers were not there yet. */
export function groupExpression({ all }: Asking, room: Room): readonly ExplainedExpression[] {
  const last = all.at(-1);
  if (last === undefined || !room.take(GROUP_EXPRESSION, last.program.source)) return [];
  const { source } = last.program;
  return [{ path: GROUP_EXPRESSION, source, evaluations: [evaluated(last, source, room)] }];
}

function evaluated({ program, values, result }: Evaluated, written: string, room: Room): ExplainedValue {
  const { parsed } = program;
  // What is compiled may be a trimmed form of what is written.
  const at = written.indexOf(parsed.source);
  const whole = explainedValue(explain(parsed, values), { room, shift: at < 0 ? undefined : at });
  return { ...whole, value: valueText(result), failed: result instanceof CelError };
}

/** Attempts repeat evaluations: what is the same is shown once. */
function different(evaluations: readonly ExplainedValue[]): readonly ExplainedValue[] {
  if (evaluations.length < 2) return evaluations;
  return [...new Map(evaluations.map((each) => [JSON.stringify(each), each])).values()];
}
