import type { ClusterDocument, PolicySetRoute } from "../config/from-cluster/cluster-document.js";

/** What the cluster holds of policies at some moment. */
export interface ClusterState {
  /** As in the delta that led to it. */
  readonly version: number;
  /** By key. */
  readonly documents: ReadonlyMap<string, ClusterDocument>;
  /** Policies that are asked about together: all sets that are answered. */
  readonly sets: readonly PolicySetRoute[];
  /** Resources, as `<plural>.<group>`, that are there but could not be read: of their policies nobody knows. */
  readonly unread: readonly string[];
}
