/** CertificateRequestPolicies of one entry, as a cluster would take them: read and checked, with every mistake at its place (spec certificate-request-policy.md 7.2). */

import { fieldProblem } from "../../config/documents/field-problem.js";
import type { Problem } from "../../config/documents/problem.js";
import type { SourceDocument } from "../../config/documents/source-document.js";
import { isObject } from "../../kubernetes/object.js";
import { isConsequence } from "../shared/decode/misread.js";
import { type CheckOptions, checkPolicy, type PolicyError } from "./check-policy.js";
import { describeFailure, readPolicy } from "./read.js";
import type { CertificateRequestPolicy } from "./resource.js";

/** What of a document is looked at: its JSON value, and who says what is wrong where. */
export type PolicyDocument = Pick<SourceDocument, "value" | "problem">;

/** How documents are prepared. */
export interface PrepareOptions extends CheckOptions {
  /**
   * Keeps what can be read but would not be admitted, as policies in a cluster may be older than the checks: rules that do not compile object to every item, and
   * plugins that there are not are nobody's. Mistakes are warnings then. A field that there is not is an error all the same: what it restricts is not known.
   */
  readonly lenient?: boolean;
  /** What to write instead of a rule that does not compile. */
  readonly hint?: (rule: string) => string | undefined;
}

/** What documents hold. What has an error is left out. */
export interface PreparedPolicies {
  readonly policies: readonly CertificateRequestPolicy[];
  readonly problems: readonly Problem[];
}

/** Prepares documents of this kind: lists are opened, and no name stands twice. */
export function preparePolicies(documents: readonly PolicyDocument[], options: PrepareOptions): PreparedPolicies {
  const { lenient = false } = options;
  const severity = lenient ? "warning" : "error";
  const problems: Problem[] = [];
  const policies: CertificateRequestPolicy[] = [];
  for (const document of documents) {
    const { policy, failures, rest } = readPolicy(isObject(document.value) ? document.value : {});
    const broken = policy === undefined || failures.some(({ unknownField }) => unknownField);
    for (const failure of failures) {
      const fatal = broken && (policy === undefined || failure.unknownField);
      problems.push(document.problem(fatal ? "error" : severity, failure.path, describeFailure(failure)));
    }
    const readable = policy ?? rest;
    const errors = readable === undefined ? [] : checkPolicy(readable, options);
    // Where the schema has said it already, it need not be said twice.
    const said = new Set(failures.map(({ path }) => JSON.stringify(path)));
    const more = errors.filter((error) => !said.has(JSON.stringify(error.path)) && !isConsequence(error, failures));
    const kept = policy === undefined ? "error" : severity;
    problems.push(...more.map((error) => problemOf(error, document, kept, options)));
    if (policy === undefined || broken) continue;
    if (lenient || failures.length + errors.length === 0) policies.push(policy);
  }
  return { policies, problems };
}

function problemOf(
  { path, text, rule }: PolicyError,
  document: PolicyDocument,
  severity: Problem["severity"],
  { hint }: PrepareOptions,
): Problem {
  if (rule === undefined) return document.problem(severity, path, text);
  return fieldProblem(document, severity, {
    path: [...path, "rule"],
    text,
    hint: hint?.(rule),
    code: "CEL_EXPRESSION",
  });
}
