/**
 * A policy, whatever made it: a WASM module, CEL, a group of others, or one that could not be loaded.
 */
import type { Outcome } from "./outcome.js";
import type { Review } from "./review.js";
import type { TurnGiver } from "./turns.js";

/** What kind of thing decides. */
export type PolicyKind = "wasm" | "cel" | "group" | "unavailable";

/** Enforce, or only report (spec kubewarden.md 4.2). */
export type PolicyMode = "protect" | "monitor";

/** Circumstances of one evaluation. */
export interface EvaluationContext {
  /** Monotonic milliseconds (performance.now) at which the caller stops waiting; a policy's own limit may be earlier. */
  readonly deadline: number;
  /** Aborted when the caller has gone or the deadline has passed. Made when somebody asks for it. */
  readonly signal: AbortSignal;
  /** Whose turn it is on the main thread; absent where nobody else waits, as on a command line. */
  readonly turns?: TurnGiver | undefined;
  /** Told of every policy evaluated on the way, members of groups included: for metrics, logs and explanations. */
  readonly observe?: (observation: Observation) => void;
  /** Told when a policy breaks its contract by throwing or rejecting: a defect, to be logged. */
  readonly onDefect?: (policy: string, error: unknown) => void;
}

/** One policy evaluation, as metrics and the decision record see it. */
export interface Observation {
  /** `<policy>` or `<group>/<member>`. */
  readonly policy: string;
  readonly outcome: Outcome;
  /** Milliseconds from call to outcome. */
  readonly milliseconds: number;
  /** Whether it ran as a member of a group. */
  readonly member: boolean;
}

/** A rule of what a policy is for, as webhooks and match constraints have it. */
export interface PolicyRule {
  readonly operations?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly resources?: readonly string[];
}

/** How a group is made of others: for people who look at it. */
export interface Composition {
  /** CEL. */
  readonly expression: string;
  /** In order of definition, each with the id of the policy that it is. */
  readonly members: readonly { readonly name: string; readonly policy: string }[];
}

/** A policy that is ready to be asked. Immutable; safe to ask from many requests at once. */
export interface Policy {
  /** The id: `<name>`, or `<group>/<member>` for an inline member. */
  readonly id: string;
  readonly kind: PolicyKind;
  /** What exactly decides, for `GET /policies`: `extism`, `kubewarden-wapc`, `ValidatingAdmissionPolicy`, `group` … */
  readonly implementation: string;
  /** How the guest of a WASM policy begins, and why not with more done before; for `GET /policies`. */
  readonly start?: { readonly start: "cold" | "started" | "warm"; readonly because?: string };
  /**
   * Whether it usually answers without waiting. Such a policy is asked as soon as a request is there, and takes a place among the evaluations
   * under way only when it has to wait after all; any other takes its place first.
   */
  readonly immediate: boolean;
  /** What it is for, as far as it says so itself: by match constraints, or as the author of a module suggests. Absent: whoever registers it knows. */
  readonly rules?: readonly PolicyRule[] | undefined;
  /** Of a group. */
  readonly composition?: Composition | undefined;
  /** Those that it asks together, where it is made of policies of several kinds. */
  readonly together?: readonly Policy[];
  /**
   * The outcome, or its promise when something has to be waited for. Every failure is an outcome; a throw or a rejection is a defect, and is
   * treated as a failure by `evaluateInTime`, through which every policy is asked.
   */
  evaluate(review: Review, context: EvaluationContext): Outcome | Promise<Outcome>;
}
