/** What a case of a test file is, once it is read (docs/testing.md). */
import type { RE2JS } from "re2js";
import type { Position } from "../../config/documents/problem.js";
import type { Review } from "../../policy/index.js";

/** What a case can expect. `warn` is an allow or deny with a warning; `refused` and `loads` are about settings, and ask nothing. */
export const EXPECTATIONS = ["allow", "deny", "warn", "skip", "error", "refused", "loads"] as const;
export type Expectation = (typeof EXPECTATIONS)[number];

/** What a case can expect of a group's member. */
export const MEMBER_OUTCOMES = ["allow", "deny", "error", "skip", "not evaluated"] as const;
export type MemberOutcome = (typeof MEMBER_OUTCOMES)[number];

/** What is expected; what is absent may be anything. */
export interface Expected {
  readonly expect?: Expectation;
  /** What the client gets. */
  readonly allowed?: boolean;
  /** What the message must be (of `warn`: one of the warnings; of `skip`: the reason). */
  readonly message?: string;
  /** What it must contain. */
  readonly messageContains?: string;
  /** What it must match. */
  readonly messageMatches?: RE2JS;
  readonly code?: number;
  readonly reason?: string;
  /** All of them, in order. */
  readonly warnings?: readonly string[];
  readonly auditAnnotations?: Readonly<Record<string, string>>;
  /** The JSON Patch of the answer; an empty one: the object stays as it is. */
  readonly patch?: readonly unknown[];
  /** The object as the policy makes it. */
  readonly mutated?: { readonly object: unknown };
  readonly members?: Readonly<Record<string, MemberOutcome>>;
}

/** What a case is about: an entry of policies.yaml as it is, or a policy that only the test file has. */
export type Subject =
  | { readonly kind: "entry"; readonly id: string }
  | {
      readonly kind: "own";
      /** For people: the id, or the module's or resource's address. */
      readonly name: string;
      /** The id of the entry of policies.yaml that only has other settings here. */
      readonly of?: string;
      readonly settings?: Readonly<Record<string, unknown>>;
      /** Else an entry as policies.yaml has it, with addresses relative to the test file. */
      readonly entry: Readonly<Record<string, unknown>>;
    };

/** A case, ready to be put to its policy. */
export interface TestCase {
  readonly file: string;
  readonly name: string;
  readonly subject: Subject;
  /** Absent where the case is about settings. */
  readonly review?: Review;
  readonly expected: Expected;
  /** Where the case stands. */
  readonly place: Position;
  /** Where one of its keys stands; the case, when it has no such key. */
  readonly placeOf: (key: string) => Position;
}

/** For messages. */
export const nameOf = (subject: Subject): string => (subject.kind === "entry" ? subject.id : subject.name);
