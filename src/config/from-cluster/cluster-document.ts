/** A cluster's policies as processes send them to each other: plain data. */
import type { Problem } from "../documents/problem.js";

/** A resource of the cluster that is a policy or belongs to policies. */
export interface ClusterDocument {
  /** `<group>/<kind>/<namespace>/<name>`: identifies the resource, whatever its version; the namespace is empty where there is none. */
  readonly key: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** `metadata.generation`; 0 where the kind has none. */
  readonly generation: number;
  /**
   * The text that `kubectl get … -o json` prints (four spaces, keys in order, no managedFields), so that lines in messages are lines of that; without its
   * status, unless its kind's policies read it. Empty: it can't be read.
   */
  readonly text: string;
  /** Why its namespace is omitted: its text only has the inputs of its webhook, and it denies. Absent: it is not. */
  readonly leftOut?: string;
}

/** Policies that one webhook asks about: `/validate/set/<hash>`. */
export interface PolicySetRoute {
  /** The hash of the members, 16 hexadecimal digits; of policies that mutate `m` and 15 digits of the hash of what they have in common. */
  readonly hash: string;
  /** Ids of served policies, sorted. */
  readonly members: readonly string[];
  /** Whether they mutate, one after the other in one pass; absent: they validate. */
  readonly mutates?: true;
}

/** A change of a cluster's policies. */
export interface ClusterDelta {
  /** The version of the state after it; counts up from 1. */
  readonly version: number;
  /** The version of the state before it; 0: the delta contains everything. */
  readonly base: number;
  readonly put: readonly ClusterDocument[];
  /** Keys of documents that are gone. */
  readonly removed: readonly string[];
  /** All sets after it, including those that webhooks may still name for a while. */
  readonly sets: readonly PolicySetRoute[];
}

/** The result of loading a policy anew. */
export interface LoadedPolicyReport {
  /** The id under which it is served. */
  readonly id: string;
  /** The key of the document. */
  readonly key: string;
  /** The generation of the document that was loaded. */
  readonly generation: number;
  /**
   * `last-good`: it is broken, or not loaded yet, and the version before it is still served; `waiting`: it denies until its module has come, or can't be
   * fetched; `unavailable`: it denies; `refused`: another policy is served under its id.
   */
  readonly state: "loaded" | "last-good" | "waiting" | "unavailable" | "refused";
  /** Errors and warnings, each with its place in `kubectl get … -o json`: `spec.validations[0].expression (line 14, column 30): …`. */
  readonly problems: readonly { readonly severity: Problem["severity"]; readonly text: string }[];
}
