/** Policies of one entry, as a cluster would take them: every mistake at its place (spec certificate-request-policy.md 2.4, 2.5 and 7.2). */
import type { ExpressionCompiler } from "../../cel-policy/expressions/expression-compiler.js";
import type { Problem } from "../../documents/problem.js";
import type { SourceDocument } from "../../documents/source-document.js";
import { isObject } from "../../kubernetes/object.js";
import { checkPolicy } from "./check-policy.js";
import { describeFailure, readPolicy } from "./read.js";
import type { CertificateRequestPolicy } from "./resource.js";
import { compileRule } from "./rules.js";

/** How policies are prepared. */
export interface PrepareOptions {
  readonly compiler: ExpressionCompiler;
  /** What becomes of a policy that no cluster would take. */
  readonly invalid: "refuse" | "keep";
}

/** Reads and checks policies; names are unique. */
export function preparePolicies(
  documents: readonly Pick<SourceDocument, "value" | "problem">[],
  { compiler, invalid }: PrepareOptions,
): { readonly policies: readonly CertificateRequestPolicy[]; readonly problems: readonly Problem[] } {
  const policies: CertificateRequestPolicy[] = [];
  const problems: Problem[] = [];
  for (const document of documents) {
    if (!isObject(document.value)) continue;
    const { policy, failures } = readPolicy(document.value);
    const severity = invalid === "keep" && policy !== undefined ? "warning" : "error";
    problems.push(...failures.map((each) => document.problem(severity, each.path, describeFailure(each))));
    if (policy === undefined) continue;
    policies.push(policy);
    const errors = checkPolicy(policy, { compile: (rule) => compileRule(rule, compiler).error });
    problems.push(...errors.map(({ path, text }) => document.problem(severity, path, text)));
  }
  return { policies, problems };
}
