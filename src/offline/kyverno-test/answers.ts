/** Evaluated resources, with each policy's answer. */

import type { JsonObject } from "../../kubernetes/object.js";
import type { PatchedFile } from "./patched-resources.js";

/** A resource of the test, or a payload. */
export interface Subject {
  /** `undefined` for payloads, which have only a path. */
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly namespace?: string;
  /** The name of the resource, or the payload's path as written. */
  readonly name: string;
}

/** The answer of a policy (or of one generated from it for pod controllers) about a subject. */
export interface Answer {
  /** `metadata.name` of the policy. */
  readonly policy: string;
  /** `undefined`: its match constraints exclude the subject. Such answers of *simple* constraints are left out (spec kyverno.md 8.7). */
  readonly result: AnswerResult | undefined;
  /** Whether it is a rule's, of a policy of the old language; default no. */
  readonly hasRules?: true;
}

/** A result in the form of reports (spec kyverno.md 7.1). */
export interface AnswerResult {
  /** `pass`, `fail`, `warn`, `error` or `skip`. */
  readonly result: string;
  readonly rule: string;
  readonly message: string;
}

/** A subject with the answers of all policies, in a fixed order. */
export interface Evaluated {
  readonly subject: Subject;
  readonly answers: readonly Answer[];
  /** The resource as mutating policies leave it; absent for payloads. */
  readonly object?: JsonObject;
}

/** All answers for the comparison with expected results. */
export interface Answers {
  /** With the operation of the values, or CREATE; payloads too. */
  readonly usual: readonly Evaluated[];
  /** Resources, once more for each operation that an expected result names. */
  readonly byOperation: ReadonlyMap<string, readonly Evaluated[]>;
  /** Reasons by name of policies that are not evaluated here. */
  readonly notServed: ReadonlyMap<string, string>;
  /** The resources that results expect, by the path of their file as written. */
  readonly patched: ReadonlyMap<string, PatchedFile>;
}
