/** What a cluster holds of policies, as processes tell it each other: plain data, which can be sent. */

/** A resource of the cluster that is a policy or belongs to policies. */
export interface ClusterDocument {
  /** `<group>/<kind>/<namespace>/<name>`: which resource it is, in whatever version; the namespace is empty where there is none. */
  readonly key: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** `metadata.generation`; 0 where the kind has none. */
  readonly generation: number;
  /** As `kubectl get … -o json` prints it (four spaces, keys in order, no managedFields), so that lines in messages are lines of that; without its status, unless its kind's policies read it. Empty: it can't be read. */
  readonly text: string;
  /** Why its namespace is left out: its text has only what its webhook is made of, and it denies. Absent: it is not. */
  readonly leftOut?: string;
}

/** Policies that one webhook asks about: `/validate/set/<hash>`. */
export interface PolicySetRoute {
  /** Of the members: 16 hexadecimal digits. */
  readonly hash: string;
  /** Ids of served policies, sorted. */
  readonly members: readonly string[];
}

/** A change of what a cluster holds of policies. */
export interface ClusterDelta {
  /** Of the state after it; counts up from 1. */
  readonly version: number;
  /** The version of the state before it; 0: it holds everything. */
  readonly base: number;
  readonly put: readonly ClusterDocument[];
  /** Keys of documents that are gone. */
  readonly removed: readonly string[];
  /** All sets that are asked about together after it, those that webhooks may still name for a while among them. */
  readonly sets: readonly PolicySetRoute[];
}

/** What became of a policy that was loaded anew. */
export interface LoadedPolicyReport {
  /** The id under which it is served. */
  readonly id: string;
  /** Of the document. */
  readonly key: string;
  /** Of the document that was loaded. */
  readonly generation: number;
  /**
   * `last-good`: it is broken, or not there yet, and the version before it goes on being served; `waiting`: it denies until its module has come, or can't be had; `unavailable`: it denies;
   * `refused`: another policy is served under its id.
   */
  readonly state: "loaded" | "last-good" | "waiting" | "unavailable" | "refused";
  /** Errors and warnings, each with its place in `kubectl get … -o json`: `spec.validations[0].expression (line 14, column 30): …`. */
  readonly problems: readonly { readonly severity: "error" | "warning"; readonly text: string }[];
}
