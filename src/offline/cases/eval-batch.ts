/**
 * `eval --batch`: decides complete cases, one JSON object a line: policies, and all their inputs (see docs/batch.md). Each gets a line `{"id",
 * "result"}`, or `{"id", "expect"}`, in the words of the reference implementation.
 */
import { didYouMean } from "../../data/suggest.js";
import { createCompilers } from "../../kinds/kyverno/dialect.js";
import { createMutationCompilers } from "../../kinds/mutating-admission-policy/compilers.js";
import { createExpressionCompiler } from "../../kinds/validating-admission-policy/index.js";
import type { JsonObject } from "../../kubernetes/object.js";
import { bundledSchemas } from "../../kubernetes/structured-merge/merge-schemas.js";
import { createCaseDecider } from "./certificate-request-policy/case.js";
import { answerLines, type LineStreams, refuse } from "./json-lines.js";
import { decideKyvernoCase } from "./kyverno/case.js";
import { decideCase as decideMutatingCase } from "./mutating-admission-policy/case.js";
import { decideCase } from "./validating-admission-policy/case.js";

/** Decides cases of one format, by their line without the id; made once for a run. */
type CaseFormat = () => (written: JsonObject) => object | Promise<object>;

/** The formats by name. */
const FORMATS: ReadonlyMap<string, CaseFormat> = new Map<string, CaseFormat>([
  [
    "validating-admission-policy",
    () => {
      const compiler = createExpressionCompiler();
      return (written) => ({ result: decideCase(written, compiler) });
    },
  ],
  [
    "mutating-admission-policy",
    () => {
      const tools = { compilers: createMutationCompilers(), schemas: bundledSchemas() };
      return (written) => ({ result: decideMutatingCase(written, tools) });
    },
  ],
  [
    "kyverno",
    () => {
      const compilers = createCompilers();
      return async (written) => ({ expect: await decideKyvernoCase(written, compilers) });
    },
  ],
  [
    "certificate-request-policy",
    () => {
      const decide = createCaseDecider();
      return async (written) => ({ expect: await decide(written) });
    },
  ],
]);

/** Options of the command. */
export interface EvalBatchOptions {
  /** The format of the cases; default: `validating-admission-policy`. */
  readonly cases?: string;
}

/** Decides every case of standard input; returns the exit code. */
export async function evalBatchCommand(
  { cases = "validating-admission-policy" }: EvalBatchOptions,
  io: LineStreams,
): Promise<number> {
  const format = FORMATS.get(cases);
  if (format === undefined) {
    const names = [...FORMATS.keys()];
    return refuse(io, `unknown cases '${cases}'${didYouMean(cases, names) || ` (known: ${names.join(", ")})`}`);
  }
  const decide = format();
  return answerLines(io, async (written) => ({ id: written.id, ...(await decide(written)) }));
}
