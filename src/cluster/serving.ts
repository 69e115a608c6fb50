/** Those who serve policies, as the agent of a cluster sees them: this process, or several others. */
import type { ClusterDelta, LoadedPolicyReport } from "../config/from-cluster/cluster-document.js";

/** Serves what the agent finds in the cluster. */
export interface Serving {
  /**
   * Has everybody load what has changed, and then serve it in one step.
   * @returns what became of each policy that was loaded anew, when all serve it; never rejects
   */
  serve(delta: ClusterDelta): Promise<readonly LoadedPolicyReport[]>;
  /** How many evaluations requests have set off so far: counts up while requests come. */
  readonly evaluations: number;
}
