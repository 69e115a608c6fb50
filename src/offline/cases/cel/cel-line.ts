/** Expressions in bulk: a JSON line in for each, a JSON line out with all results of compiling and evaluating it. */

import {
  type Bindings,
  CelError,
  type Environment,
  formatLongType,
  type Issue,
  type Program,
  type Type,
  type Value,
} from "../../../cel/index.js";
import { type Encoded, encodeValue } from "../../../kinds/shared/encode-value.js";

/** One line out. Members that don't apply are absent. */
export interface CelLine {
  readonly expr: string;
  readonly issues?: readonly Pick<Issue, "line" | "column" | "message">[];
  readonly issuesText?: string;
  readonly type?: string;
  readonly value?: Encoded;
  readonly error?: string;
  readonly cost?: number;
  readonly estimateMin?: string;
  readonly estimateMax?: string;
  readonly nsPerEval?: number;
}

/** Rounds of measuring, of which the best counts: other work on the machine only adds time. */
const ROUNDS = 5;

/** Compiles and evaluates one expression. */
export function celLine(environment: Environment, bindings: Bindings, expr: string): CelLine {
  const compiled = environment.compile(expr);
  if (!compiled.ok) {
    if (compiled.phase === "compile") {
      const issues = compiled.issues.map(({ line, column, message }) => ({ line, column, message }));
      return { expr, issues, issuesText: compiled.text };
    }
    const checked = environment.check(expr);
    return { expr, ...(checked.ok ? typed(checked.type) : {}), error: `program: ${compiled.text}` };
  }
  const { program } = compiled;
  const { min, max } = program.estimate();
  const { result, cost } = program.evaluate(bindings);
  const outcome = result instanceof CelError ? { error: result.message } : { value: encodeValue(result as Value) };
  const estimate = { estimateMin: String(min), estimateMax: String(max) };
  return { expr, ...typed(program.type), ...outcome, cost, ...estimate };
}

const typed = (type: Type): { readonly type: string } => ({ type: formatLongType(type) });

/** Nanoseconds per evaluation: the best of a few rounds of `evaluations` each. */
export function nanosPerEvaluation(program: Program, bindings: Bindings, evaluations: number): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const start = process.hrtime.bigint();
    for (let i = 0; i < evaluations; i++) program.evaluate(bindings);
    best = Math.min(best, Number(process.hrtime.bigint() - start) / evaluations);
  }
  return best;
}
