/**
 * `eval --batch`: decides complete cases, one JSON object a line: policies, and all their inputs (see docs/batch.md). Each gets a line `{"id",
 * "result"}`, or `{"id", "expect"}`, in the words of the reference implementation.
 */
import type { KubernetesVersion } from "../../cel/index.js";
import { didYouMean } from "../../data/suggest.js";
import { createCompilers } from "../../kinds/kyverno/dialect.js";
import { createMutationCompilers } from "../../kinds/mutating-admission-policy/compilers.js";
import { createExpressionCompiler } from "../../kinds/validating-admission-policy/index.js";
import type { JsonObject } from "../../kubernetes/object.js";
import { bundledSchemas } from "../../kubernetes/structured-merge/merge-schemas.js";
import { createCaseDecider } from "./certificate-request-policy/case.js";
import { answerLines, type LineStreams, refuse } from "./json-lines.js";
import { decideKyvernoCase } from "./kyverno/case.js";
import { decideOldKyvernoCase } from "./kyverno-old/case.js";
import { decideCase as decideMutatingCase } from "./mutating-admission-policy/case.js";
import { decideCase } from "./validating-admission-policy/case.js";

/** Decides cases of one format, by their line without the id; made once for a run. */
type CaseFormat = (version: KubernetesVersion | undefined) => (written: JsonObject) => object | Promise<object>;

/** The formats by name. */
const FORMATS: ReadonlyMap<string, CaseFormat> = new Map<string, CaseFormat>([
  [
    "validating-admission-policy",
    (version) => {
      const compiler = createExpressionCompiler(version);
      return (written) => ({ result: decideCase(written, compiler) });
    },
  ],
  [
    "mutating-admission-policy",
    (version) => {
      const tools = { compilers: createMutationCompilers(version), schemas: bundledSchemas() };
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
    "kyverno-old",
    () => {
      const compilers = createCompilers();
      return async (written) => ({ expect: await decideOldKyvernoCase(written, compilers) });
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
  /** The Kubernetes whose API server decides, in the first two formats; default 1.37. */
  readonly version?: KubernetesVersion | undefined;
}

/** Decides every case of standard input; returns the exit code. */
export async function evalBatchCommand(
  { cases = "validating-admission-policy", version }: EvalBatchOptions,
  io: LineStreams,
): Promise<number> {
  const format = FORMATS.get(cases);
  if (format === undefined) {
    const names = [...FORMATS.keys()];
    return refuse(io, `unknown cases '${cases}'${didYouMean(cases, names) || ` (known: ${names.join(", ")})`}`);
  }
  const decide = format(version);
  return answerLines(io, async (written) => ({ id: written.id, ...(await decide(written)) }));
}
