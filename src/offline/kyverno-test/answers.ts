/** What was evaluated: resources, and what each policy says of them. */

/** A resource of the test, or a payload. */
export interface Subject {
  /** `undefined` for payloads, which have a path alone. */
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly namespace?: string;
  /** The name of the resource, or the payload's path as it was written. */
  readonly name: string;
}

/** What a policy (or one made of it for pod controllers) says of a subject. */
export interface Answer {
  /** `metadata.name` of the policy. */
  readonly policy: string;
  /** `undefined`: its match constraints exclude the subject. Such answers of *simple* constraints are left out (spec kyverno.md 8.7). */
  readonly result: AnswerResult | undefined;
}

/** A result as reports have it (spec kyverno.md 7.1). */
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
}

/** Everything that expected results are compared with. */
export interface Answers {
  /** With the operation of the values, or CREATE; payloads too. */
  readonly usual: readonly Evaluated[];
  /** Resources, once more for each operation that an expected result names. */
  readonly byOperation: ReadonlyMap<string, readonly Evaluated[]>;
  /** Policies that were read and are not evaluated here: by name, why. */
  readonly notServed: ReadonlyMap<string, string>;
}
