/** A case of a test file, after reading (docs/testing.md). */
import type { RE2JS } from "re2js";
import type { Position } from "../../config/documents/problem.js";
import type { Review } from "../../policy/index.js";

/** Possible expectations of a case. `warn` is an allow or deny with a warning; `refused` and `loads` are about settings, without a request. */
export const EXPECTATIONS = ["allow", "deny", "warn", "skip", "error", "refused", "loads"] as const;
export type Expectation = (typeof EXPECTATIONS)[number];

/** Possible expectations of a group's member. */
export const MEMBER_OUTCOMES = ["allow", "deny", "error", "skip", "not evaluated"] as const;
export type MemberOutcome = (typeof MEMBER_OUTCOMES)[number];

/** The expectations; an absent one accepts anything. */
export interface Expected {
  readonly expect?: Expectation;
  /** Whether the client's answer allows. */
  readonly allowed?: boolean;
  /** The exact message (for `warn` one of the warnings; for `skip` the reason). */
  readonly message?: string;
  /** A part of the message. */
  readonly messageContains?: string;
  /** A pattern of the message. */
  readonly messageMatches?: RE2JS;
  readonly code?: number;
  readonly reason?: string;
  /** All warnings, in order. */
  readonly warnings?: readonly string[];
  readonly auditAnnotations?: Readonly<Record<string, string>>;
  /** The JSON Patch of the answer; empty: the object is unchanged. */
  readonly patch?: readonly unknown[];
  /** The object after the policy's mutation. */
  readonly mutated?: { readonly object: unknown };
  readonly members?: Readonly<Record<string, MemberOutcome>>;
}

/** The subject of a case: an entry of policies.yaml, or a policy that only the test file has. */
export type Subject =
  | { readonly kind: "entry"; readonly id: string }
  | {
      readonly kind: "own";
      /** The name for display: the id, or the module's or resource's address. */
      readonly name: string;
      /** The id of the entry of policies.yaml that gets other settings here. */
      readonly of?: string;
      readonly settings?: Readonly<Record<string, unknown>>;
      /** Otherwise an entry in the format of policies.yaml, with addresses relative to the test file. */
      readonly entry: Readonly<Record<string, unknown>>;
    };

/** A case, ready to be evaluated. */
export interface TestCase {
  readonly file: string;
  readonly name: string;
  readonly subject: Subject;
  /** Absent where the case is about settings. */
  readonly review?: Review;
  readonly expected: Expected;
  /** The place of the case. */
  readonly place: Position;
  /** The place of one of its keys; that of the case when it has no such key. */
  readonly placeOf: (key: string) => Position;
}

/** The name of a subject, for messages. */
export const nameOf = (subject: Subject): string => (subject.kind === "entry" ? subject.id : subject.name);
