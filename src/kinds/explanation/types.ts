/**
 * Explanations of answers, as data: shown by `eval --explain`, `eval -o json` and the page. They contain parts of requests, so they are for the requester,
 * and never logged.
 */

/** The answer of one policy, or of one member of a group, to a request. */
export interface ExplainedAnswer {
  /** The policy's id; of a member its name in the group. */
  readonly name: string;
  /** The value that a member was asked about (`image_ok(c.image)`), in CEL's notation, cut to one line. */
  readonly argument?: string;
  /** `extism`, `ValidatingAdmissionPolicy`, `group` …, as `GET /policies` says it. */
  readonly implementation: string;
  /** `not evaluated`: a member that its group's expression did not need; `no answer`: time was up before it had one. */
  readonly outcome: "allow" | "deny" | "error" | "skip" | "not evaluated" | "no answer";
  /** The policy's message: why it denied, failed or does not apply. */
  readonly message?: string;
  /** Time from call to outcome; absent where it was not evaluated. */
  readonly milliseconds?: number;
  /** Its parts, each with its result: of a policy with a name beside the entry's, or one for several kinds. */
  readonly parts: readonly ExplainedPart[];
  /** The members of a group, in order of definition; a member that was asked about several values stands here once for each. */
  readonly members: readonly ExplainedAnswer[];
  /** Number of member calls that were not kept; 0: none. */
  readonly left: number;
}

/** One of the policies that a file holds, or a group's expression. */
export interface ExplainedPart {
  /** `ValidatingAdmissionPolicy 'replicas' for Deployments (autogen)`; `""`: it has no name beside the entry's. */
  readonly title: string;
  /** The result where no expression shows it: `does not match`, `not evaluated`, `denies` … */
  readonly found?: string;
  readonly expressions: readonly ExplainedExpression[];
}

/** One expression. */
export interface ExplainedExpression {
  /** `spec.validations[0].expression`; of a group `expression`. */
  readonly path: string;
  /** The name of a match condition or a variable, or the key of an annotation. */
  readonly name?: string;
  /** The source as it was written. */
  readonly source: string;
  /** The error that prevents any evaluation; then there are no evaluations. */
  readonly error?: string;
  /** Each different value that it had, for several parameters perhaps; empty: it was not evaluated. */
  readonly evaluations: readonly ExplainedValue[];
}

/** A part of an expression with its value and its own parts. */
export interface ExplainedValue {
  /** The part's place in the expression, in UTF-16 units: `source.slice(from, to)`; absent: it was made by a macro. */
  readonly from?: number;
  readonly to?: number;
  /** The part in CEL's notation. */
  readonly text: string;
  /** The value in CEL's notation, cut to one line; absent: it was not evaluated. */
  readonly value?: string;
  /** Whether the value is an error. */
  readonly failed: boolean;
  readonly parts: readonly ExplainedValue[];
}

/** A line of an object in YAML, before and after a patch. */
export interface DiffLine {
  readonly kind: "same" | "removed" | "added";
  readonly text: string;
}
