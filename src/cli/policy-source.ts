/** What commands load policies from, and what comes of it. */
import type { ClusterDelta, LoadedPolicyReport } from "../config/from-cluster/index.js";
import type { Problem } from "../config/index.js";
import type { ClusterAccess, ClusterNeed } from "../loader/index.js";
import type { PolicySet } from "../policy/served/policy-set.js";
import type { ShadowSet } from "../policy/served/shadow/versions.js";
import type { ClusterProblem } from "./kubernetes-options.js";

/** Policies that will fail for want of a cluster. */
export interface WithoutCluster extends ClusterProblem {
  readonly needing: readonly ClusterNeed[];
}

/** What came of loading. */
export interface LoadResult {
  readonly file: string;
  readonly policies: PolicySet;
  /** Files and folders that were read. */
  readonly files: readonly string[];
  /** Every mistake and doubt in order of place. */
  readonly problems: readonly Problem[];
  /** How many of them are errors. */
  readonly errors: number;
  /** Why nothing of the file can be used; then there are no policies. */
  readonly fatal?: string;
  /** Set when some of the policies will fail: they need a cluster, and none is found. */
  readonly withoutCluster?: WithoutCluster;
  /** Policies to be put in the shadow of all that are served, those of a cluster among them. */
  readonly shadows?: ShadowSet;
  /** Where policies come from a cluster as well. */
  readonly fromCluster?: FromCluster;
}

/** The part of what was loaded that came from a cluster. */
export interface FromCluster {
  /** Whether a policy is the cluster's: each goes its own way, and none keeps the others from being served. */
  readonly has: (id: string) => boolean;
  /** What became of the policies that were loaded anew since the last ones that were served; after a delta that holds everything, of all. */
  readonly reports: readonly LoadedPolicyReport[];
  /** To be called when all of this is served. */
  readonly taken: () => void;
}

/** Everything loading holds on to: threads, caches. Loads as often as wanted. */
export interface PolicySource {
  readonly policyTimeout: number;
  /** The cluster that policies look things up in; undefined where none is wanted. */
  readonly access: ClusterAccess | undefined;
  /** Reads the files anew. */
  load(generation?: number): Promise<LoadResult>;
  /** Absent: no policies come from a cluster. */
  readonly cluster?: ClusterSource;
  close(): void;
}

/** Policies that come from a cluster, beside those of the files. */
export interface ClusterSource {
  /**
   * Takes over what has changed in the cluster, and loads that; the files are as they are served.
   * @returns undefined when the delta begins at another version than the one that is there
   */
  load(delta: ClusterDelta, generation: number): Promise<LoadResult | undefined>;
  /** Whom to tell when loading an empty delta would bring other policies than before, such as one whose module has come; one at a time. */
  wanted: () => void;
}
