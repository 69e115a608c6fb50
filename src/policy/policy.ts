/**
 * A policy, whatever made it: a WASM module, CEL, a group of others, or one that could not be loaded.
 */
import type { Outcome } from "./outcome.js";
import type { Review } from "./review.js";

/** What kind of thing decides. */
export type PolicyKind = "wasm" | "cel" | "group" | "unavailable";

/** Enforce, or only report (spec kubewarden.md 4.2). */
export type PolicyMode = "protect" | "monitor";

/** Circumstances of one evaluation. */
export interface EvaluationContext {
  /** Monotonic milliseconds (performance.now) at which the caller stops waiting; a policy's own limit may be earlier. */
  readonly deadline: number;
  /** Aborted when the caller has gone or the deadline has passed. */
  readonly signal: AbortSignal;
  /** Told of every policy evaluated on the way, members of groups included: for metrics, logs and explanations. */
  readonly observe?: (observation: Observation) => void;
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

/** A policy that is ready to be asked. Immutable; safe to ask from many requests at once. */
export interface Policy {
  /** The id: `<name>`, or `<group>/<member>` for an inline member. */
  readonly id: string;
  readonly kind: PolicyKind;
  /** What exactly decides, for `GET /policies`: `extism`, `kubewarden-wapc`, `ValidatingAdmissionPolicy`, `group` … */
  readonly implementation: string;
  /** Never rejects: every failure is an Outcome. */
  evaluate(review: Review, context: EvaluationContext): Promise<Outcome>;
}

/**
 * A policy that can answer without waiting (CEL policies). A caller that finds this method uses it and saves the promise; it answers
 * `undefined` when it must wait after all.
 */
export interface SynchronousPolicy extends Policy {
  evaluateNow(review: Review, context: EvaluationContext): Outcome | undefined;
}
