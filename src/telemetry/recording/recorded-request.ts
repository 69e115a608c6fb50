/** What `serve --record` writes down: one line of JSON for each answered request. */
import type { RequestOrigin } from "../../policy/served/verdict.js";

/** What `record` of every line says: what the line is, and in which version. */
export const RECORD_MARK = "policy-server/v1";

/** What stands in place of a text that must not leave the server. */
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

/** What one policy made of a request. */
export interface RecordedDecision extends RecordedAnswer {
  readonly policy: string;
  /** `allow`, `deny`, `error` or `skip`: what the policy itself came to. */
  readonly outcome: string;
  readonly milliseconds: number;
}

/** One line. */
export interface RecordedRequest {
  readonly record: typeof RECORD_MARK;
  /** RFC 3339, of the answer. */
  readonly time: string;
  /** The id in the path of the request: of a policy, or of several that are asked together. */
  readonly policy: string;
  readonly origin: RequestOrigin;
  /** Of the policies that answered. */
  readonly generation: number;
  /** Of `/validate` and `/audit`: the AdmissionRequest. */
  readonly request?: unknown;
  /** Of `/validate_raw`: what is in its `request`. */
  readonly payload?: unknown;
  readonly response: RecordedAnswer;
  readonly outcome: string;
  readonly milliseconds: number;
  /** What each answered, where several were asked together. */
  readonly members?: readonly RecordedDecision[];
  /** JSON pointers into the line, of what was redacted. */
  readonly redacted?: readonly string[];
  /** How many more there are than `redacted` names. */
  readonly redactedMore?: number;
}
