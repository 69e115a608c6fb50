/** What is served under one id, with what the evaluator must know about it. */
import type { Policy, PolicyMode } from "../policy.js";

/** One served id: a policy, a group, or a member of a group addressed by itself. */
export interface ServedPolicy {
  /** `<name>`, or `<group>/<member>`. */
  readonly id: string;
  readonly policy: Policy;
  /** Members addressed by themselves are always `protect` (spec kubewarden.md 3.1). */
  readonly mode: PolicyMode;
  /** Whether a patch may be part of the answer (spec kubewarden.md 4.3). */
  readonly allowedToMutate: boolean;
  /** The custom rejection message (spec kubewarden.md 4.4). Groups have none: their message is their own. */
  readonly message?: string;
  /** Milliseconds the evaluation may take in all; default the evaluator's. For a group the sum of its members' limits. */
  readonly timeout?: number;
  /** Why the policy could not be loaded; absent when it could. Its policy then answers every request with this error. */
  readonly unavailable?: string;
  /** What it asks a cluster for, in the words of its needs; absent: nothing that no document beside it brings. */
  readonly asks?: readonly string[];
  /** Why this is not what was asked for, though it answers: a newer version of it is broken, or it is gone. Absent: it is. */
  readonly outdated?: string;
  /** Another version, which is asked beside this one; absent: none. */
  readonly shadow?: ShadowVersion;
}

/** A version of a policy that is not in force, or not yet: its answers are counted, and nobody gets them. */
export interface ShadowVersion {
  /** As it would be served, under the same id. */
  readonly entry: ServedPolicy;
  /** What was counted is kept as long as this is the same, over reloads too. */
  readonly version: string;
  /** Admission requests of these namespaces are answered by this version already, and the other is not asked. */
  readonly enforcedNamespaces: ReadonlySet<string>;
  /** Whether there is no other version: what serves then says nothing. */
  readonly isAlone: boolean;
}
