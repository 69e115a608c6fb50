/** The serving processes, as the agent of a cluster sees them: this process, or several others. */

import type { ClusterDelta, LoadedPolicyReport } from "../config/from-cluster/cluster-document.js";
import type { ShadowRows } from "../policy/served/shadow/tally.js";

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
   * @returns the report of each policy that was loaded anew, when all processes serve it; never rejects
   */
  serve(delta: ClusterDelta): Promise<readonly LoadedPolicyReport[]>;
  /** Number of evaluations by requests so far: increases while requests come. */
  readonly evaluations: number;
}
