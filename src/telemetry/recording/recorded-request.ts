/** The format of `serve --record`: one line of JSON for each answered request. */
import type { RequestOrigin } from "../../policy/served/verdict.js";

/** The value of `record` in every line: the kind of the line, and its version. */
export const RECORD_MARK = "policy-server/v1";

/** Stands for a text that must not leave the server. */
export const REDACTED = "[redacted]";

/** An answer as it is recorded. */
export interface RecordedAnswer {
  readonly allowed: boolean;
  readonly code?: number;
  readonly message?: string;
  readonly warnings?: readonly string[];
  /** The operations of the JSON Patch, decoded; {@link REDACTED} where the object is a Secret. */
  readonly patch?: unknown;
}

/** The answer of one policy to a request. */
export interface RecordedDecision extends RecordedAnswer {
  readonly policy: string;
  /** The policy's own result: `allow`, `deny`, `error` or `skip`. */
  readonly outcome: string;
  readonly milliseconds: number;
}

/** One line. */
export interface RecordedRequest {
  readonly record: typeof RECORD_MARK;
  /** Time of the answer, RFC 3339. */
  readonly time: string;
  /** The id in the path of the request: of a policy, or of several that are evaluated together. */
  readonly policy: string;
  readonly origin: RequestOrigin;
  /** The generation of the policies that answered. */
  readonly generation: number;
  /** For `/validate` and `/audit`: the AdmissionRequest. */
  readonly request?: unknown;
  /** For `/validate_raw`: the contents of its `request`. */
  readonly payload?: unknown;
  readonly response: RecordedAnswer;
  readonly outcome: string;
  readonly milliseconds: number;
  /** The answer of each, where several were evaluated together. */
  readonly members?: readonly RecordedDecision[];
  /** JSON pointers into the line, to what was redacted. */
  readonly redacted?: readonly string[];
  /** Number of further redacted places. */
  readonly redactedMore?: number;
}
