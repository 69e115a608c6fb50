/**
 * How an answer came about, as data: what `eval --explain`, `eval -o json` and the page show. It tells what requests hold, so it is for whoever asked,
 * and for no log.
 */

/** What one policy, or one member of a group, made of a request. */
export interface ExplainedAnswer {
  /** The policy's id; of a member its name in the group. */
  readonly name: string;
  /** Where a member was asked about a value of its own (`image_ok(c.image)`): that value in CEL's notation, cut to one line. */
  readonly argument?: string;
  /** `extism`, `ValidatingAdmissionPolicy`, `group` …, as `GET /policies` says it. */
  readonly implementation: string;
  /** `not evaluated`: a member that its group's expression did not need; `no answer`: time was up before it had one. */
  readonly outcome: "allow" | "deny" | "error" | "skip" | "not evaluated" | "no answer";
  /** The policy's words: why it denied, failed or does not apply. */
  readonly message?: string;
  /** From call to outcome; absent where it was not asked. */
  readonly milliseconds?: number;
  /** The parts it is made of, each with what became of it: of one with a name beside the entry's, or one for several kinds. */
  readonly parts: readonly ExplainedPart[];
  /** Of a group, in order of definition; a member that was asked about several values stands here once for each. */
  readonly members: readonly ExplainedAnswer[];
  /** Times that members were asked of which nothing was kept; 0: none. */
  readonly left: number;
}

/** One of the policies that a file holds, or a group's expression. */
export interface ExplainedPart {
  /** `ValidatingAdmissionPolicy 'replicas' for Deployments (autogen)`; `""`: it has no name beside the entry's. */
  readonly title: string;
  /** What became of it where no expression tells: `does not match`, `not evaluated`, `denies` … */
  readonly found?: string;
  readonly expressions: readonly ExplainedExpression[];
}

/** One expression. */
export interface ExplainedExpression {
  /** `spec.validations[0].expression`; of a group `expression`. */
  readonly path: string;
  /** Of a match condition, a variable, or the key of an annotation. */
  readonly name?: string;
  /** As it was written. */
  readonly source: string;
  /** Why it can't be evaluated at all; then there are no evaluations. */
  readonly error?: string;
  /** Each different value that it came to, for several parameters perhaps; empty: it was not evaluated. */
  readonly evaluations: readonly ExplainedValue[];
}

/** A part of an expression with its value, and the parts that it is made of. */
export interface ExplainedValue {
  /** Where the part stands in the expression, in UTF-16 units: `source.slice(from, to)`; absent: it was made by a macro. */
  readonly from?: number;
  readonly to?: number;
  /** The part in CEL's notation. */
  readonly text: string;
  /** In CEL's notation, cut to one line; absent: it was not evaluated. */
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
