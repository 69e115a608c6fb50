/** CertificateRequestPolicies of one entry, as a cluster would take them: read and checked, with every mistake at its place (spec certificate-request-policy.md 7.2). */
import type { Problem } from "../../documents/problem.js";
import type { InnerPlace, SourceDocument } from "../../documents/source-document.js";
import { isObject } from "../../kubernetes/object.js";
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
    const { policy, failures } = readPolicy(isObject(document.value) ? document.value : {});
    const broken = policy === undefined || failures.some(({ unknownField }) => unknownField);
    for (const failure of failures) {
      const fatal = broken && (policy === undefined || failure.unknownField);
      problems.push(document.problem(fatal ? "error" : severity, failure.path, describeFailure(failure)));
    }
    const errors = policy === undefined ? [] : checkPolicy(policy, options);
    // Where the schema has said it already, it need not be said twice.
    const said = new Set(failures.map(({ path }) => JSON.stringify(path)));
    const more = errors.filter(({ path }) => !said.has(JSON.stringify(path)));
    problems.push(...more.map((error) => problemOf(error, document, severity)));
    if (policy === undefined || broken) continue;
    if (lenient || failures.length + errors.length === 0) policies.push(policy);
  }
  return { policies, problems };
}

function problemOf(
  { path, text, compileError }: PolicyError,
  document: PolicyDocument,
  severity: Problem["severity"],
): Problem {
  if (compileError === undefined) return document.problem(severity, path, text);
  return document.problem(severity, [...path, "rule"], text, placeInside(compileError));
}

/** The place of a rule's first mistake inside the rule. */
function placeInside(compileError: string): InnerPlace | undefined {
  const [, line, column] = /^ERROR: <input>:(\d+):(\d+):/.exec(compileError) ?? [];
  return line === undefined ? undefined : { line: Number(line), column: Number(column) };
}
