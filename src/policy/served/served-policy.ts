/** A served policy, with its settings for the evaluator. */
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
  /** The reason why the policy could not be loaded, which answers every request; absent when it is loaded. */
  readonly unavailable?: string;
  /** The resources that it looks up in a cluster, as its needs name them; absent: none beyond the documents beside it. */
  readonly asks?: readonly string[];
  /** The reason why an older state is served: a newer version is broken, or the policy was deleted. Absent: it is current. */
  readonly outdated?: string;
  /** Another version that is evaluated beside this one; absent: none. */
  readonly shadow?: ShadowVersion;
}

/** A version of a policy that is not in force, or not yet: its answers are counted, and not sent. */
export interface ShadowVersion {
  /** As it would be served, under the same id. */
  readonly entry: ServedPolicy;
  /** Key of the counts: they are kept as long as it is the same, over reloads too. */
  readonly version: string;
  /** Namespaces whose admission requests this version answers already; the other one is not evaluated for them. */
  readonly enforcedNamespaces: ReadonlySet<string>;
  /** Whether there is no other version: then requests are accepted without a message. */
  readonly isAlone: boolean;
}
