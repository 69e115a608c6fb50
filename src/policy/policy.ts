/** A policy of any origin: a WASM module, CEL, a group of others, or one that could not be loaded. */
import type { Outcome } from "./outcome.js";
import type { Review } from "./review.js";
import type { TurnGiver } from "./turns.js";

/** The mechanism that decides. */
export type PolicyKind = "wasm" | "cel" | "group" | "unavailable";

/** Enforce, or only report (spec kubewarden.md 4.2). */
export type PolicyMode = "protect" | "monitor";

/** Circumstances of one evaluation. */
export interface EvaluationContext {
  /** Monotonic milliseconds (performance.now) at which the caller stops waiting; a policy's own limit may be earlier. */
  readonly deadline: number;
  /** Aborted when the caller has gone or the deadline has passed. Made at first use. */
  readonly signal: AbortSignal;
  /** Turns on the main thread; absent where there is one evaluation only, as on a command line. */
  readonly turns?: TurnGiver | undefined;
  /** Receives every policy evaluated on the way, members of groups included: for metrics, logs and explanations. */
  readonly observe?: (observation: Observation) => void;
  /** Called when a policy breaks its contract by throwing or rejecting: a defect, to be logged. */
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

/** A rule of a policy's scope, as in webhooks and match constraints. */
export interface PolicyRule {
  readonly operations?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly resources?: readonly string[];
}

/** A group's members and expression, for display. */
export interface Composition {
  /** CEL. */
  readonly expression: string;
  /** In order of definition, each with the id of the policy that it is. */
  readonly members: readonly { readonly name: string; readonly policy: string }[];
}

/** Policies whose failed validations are only warnings, or written to the audit log. */
export interface NeverDenying {
  /** Their names; empty for a group. */
  readonly names: readonly string[];
  /** How many policies there are together with others. */
  readonly of: number;
}

/** Whether none of the policies in it can deny. */
export const canNeverDeny = ({ neverDenying }: Policy): boolean =>
  neverDenying !== undefined && neverDenying.names.length === neverDenying.of;

/** A policy that is ready to be asked. Immutable; safe to ask from many requests at once. */
export interface Policy {
  /** The id: `<name>`, or `<group>/<member>` for an inline member. */
  readonly id: string;
  readonly kind: PolicyKind;
  /** The exact kind, for `GET /policies`: `extism`, `kubewarden-wapc`, `ValidatingAdmissionPolicy`, `group` … */
  readonly implementation: string;
  /** The start mode of a WASM policy's guest, and the reason why no warmer one is used; for `GET /policies`. */
  readonly start?: { readonly start: "cold" | "started" | "warm"; readonly because?: string };
  /**
   * Whether it usually answers without waiting. Such a policy is evaluated at once, and takes a place among the evaluations under way only if it has
   * to wait; any other policy takes its place first.
   */
  readonly immediate: boolean;
  /** The requests that it is for, if it declares them: by match constraints, or as the author of a module suggests. Absent: the webhook's rules decide. */
  readonly rules?: readonly PolicyRule[] | undefined;
  /** The composition of a group. */
  readonly composition?: Composition | undefined;
  /** The policies in it whose validations can never deny; absent: it has none. */
  readonly neverDenying?: NeverDenying | undefined;
  /** Rules of Kyverno's old language that are not converted, each with the reason: what they match is an error. */
  readonly notConverted?: readonly string[];
  /** The policies that it evaluates together, where they are of several kinds. */
  readonly together?: readonly Policy[];
  /**
   * Whether its scope or its namespace selector alone leaves out everything in a Namespace with these labels: about that it answers without a finding.
   * Absent: only an evaluation tells. Namespaces themselves, and objects in none, are not meant.
   */
  leavesOut?(namespace: string, labels: Readonly<Record<string, string>>): boolean;
  /**
   * One policy that evaluates this one and others of its kind in one pass, as an API server evaluates all that it has; absent: policies of the kind do not mutate.
   * @param id the id of that policy
   */
  inOnePass?(id: string, others: readonly Policy[]): Policy;
  /**
   * The outcome, or its promise if it waits. Every failure is an outcome; a throw or a rejection is a defect, and is treated as a failure by
   * `evaluateInTime`, through which every policy is called.
   */
  evaluate(review: Review, context: EvaluationContext): Outcome | Promise<Outcome>;
}
