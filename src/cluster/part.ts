/** What the agent of a cluster is made of: each part does one thing with what the agent knows. */
import type { LoadedPolicyReport } from "../config/from-cluster/cluster-document.js";
import type { ClusterState } from "./cluster-state.js";

/** A part of the agent. */
export interface ClusterPart {
  /** All processes of this replica serve this state; what became of the policies that were loaded anew for it. */
  served?(state: ClusterState, reports: readonly LoadedPolicyReport[]): void;
  /** This replica leads from now on, until the signal is aborted. Nothing is written for all replicas by one that does not lead. */
  lead?(signal: AbortSignal): void;
  /** Ends; resolves when nothing is under way any more. */
  stop(): Promise<void>;
}
