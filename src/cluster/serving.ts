/** The serving processes, as the agent of a cluster sees them: this process, or several others. */

import type { ClusterDelta, LoadedPolicyReport } from "../config/from-cluster/cluster-document.js";
import type { ShadowRows } from "../policy/served/shadow/tally.js";
import type { ClusterState } from "./cluster-state.js";

/** The counters of this replica for versions in shadow. */
export interface ShadowSource {
  /** The counters of all its processes. */
  rows(): Promise<ShadowRows>;
  /** Number of processes that have ended with their counters. */
  readonly lost: number;
}

/** Serves the policies that the agent finds in the cluster. */
export interface Serving {
  /** The counters of versions in shadow. */
  readonly shadows: ShadowSource;
  /**
   * Has all processes load the changes, and then serve them in one step.
   * @param state the cluster's after it, for those that begin meanwhile, or have missed a delta
   * @returns what became of each policy that was loaded anew, when all serve it; never rejects
   */
  serve(delta: ClusterDelta, state: ClusterState): Promise<readonly LoadedPolicyReport[]>;
  /** How many evaluations requests have set off so far: counts up while requests come. */
  readonly evaluations: number;
}
