import type { ClusterDocument } from "../config/from-cluster/cluster-document.js";

/** What the cluster holds of policies at some moment. */
export interface ClusterState {
  /** As in the delta that led to it. */
  readonly version: number;
  /** By key. */
  readonly documents: ReadonlyMap<string, ClusterDocument>;
}
