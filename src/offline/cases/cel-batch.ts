/** `cel --batch`: expressions in bulk, `{"expr": …}` a line, everything that compiling and evaluating one says in the line out. */
import type { Bindings, Environment } from "../../cel/index.js";
import { celLine, nanosPerEvaluation } from "./cel/cel-line.js";
import { answerLines, type LineStreams } from "./json-lines.js";

/** What expressions are evaluated in. */
export interface CelBatchOptions {
  readonly environment: Environment;
  readonly bindings: Bindings;
  /** How many evaluations of each to time; default: none. */
  readonly bench?: number | undefined;
}

/** Evaluates every expression of standard input; the exit code. */
export function celBatchCommand({ environment, bindings, bench }: CelBatchOptions, io: LineStreams): Promise<number> {
  return answerLines(io, ({ expr }) => {
    if (typeof expr !== "string") return { expr, error: "expr is no string" };
    try {
      const line = celLine(environment, bindings, expr);
      const compiled = bench === undefined ? undefined : environment.compile(expr);
      if (bench === undefined || !compiled?.ok) return line;
      return { ...line, nsPerEval: nanosPerEvaluation(compiled.program, bindings, bench) };
    } catch (error) {
      // The lines after this one have nothing to do with it.
      return { expr, error: `internal error: ${String(error)}` };
    }
  });
}
