/**
 * `eval --batch`: decides cases that are written down whole, one JSON object a line: policies, bindings, parameters, Namespaces,
 * authorizer, request (see docs/batch.md). Each gets a line `{"id", "result"}` in the words of in-process admission.
 */

import type { CommandIo } from "../commands/io.js";
import { createExpressionCompiler } from "../kinds/validating-admission-policy/index.js";
import { answerLines } from "./json-lines.js";
import { decideCase } from "./validating-admission-policy/case.js";

/** Decides every case of standard input; the exit code. */
export function evalBatchCommand(io: CommandIo): Promise<number> {
  const compiler = createExpressionCompiler();
  return answerLines(io, (written) => ({ id: written.id, result: decideCase(written, compiler) }));
}
