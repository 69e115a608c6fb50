/** `cel --batch`: expressions in bulk, `{"expr": …}` a line, a line out with all results of compiling and evaluating each. */
import type { Bindings, Environment } from "../../cel/index.js";
import { celLine, nanosPerEvaluation } from "./cel/cel-line.js";
import { answerLines, type LineStreams } from "./json-lines.js";

/** Options of the evaluation. */
export interface CelBatchOptions {
  readonly environment: Environment;
  readonly bindings: Bindings;
  /** Number of timed evaluations of each; default: none. */
  readonly bench?: number | undefined;
}

/** Evaluates every expression of standard input; returns the exit code. */
export function celBatchCommand({ environment, bindings, bench }: CelBatchOptions, io: LineStreams): Promise<number> {
  return answerLines(io, ({ expr }) => {
    if (typeof expr !== "string") return { expr, error: "expr is not a string" };
    try {
      const line = celLine(environment, bindings, expr);
      const compiled = bench === undefined ? undefined : environment.compile(expr);
      if (bench === undefined || !compiled?.ok) return line;
      return { ...line, nsPerEval: nanosPerEvaluation(compiled.program, bindings, bench) };
    } catch (error) {
      // Later lines don't depend on this one.
      return { expr, error: `internal error: ${String(error)}` };
    }
  });
}
