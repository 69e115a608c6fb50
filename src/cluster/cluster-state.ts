import type { ClusterDocument, PolicySetRoute } from "../config/from-cluster/cluster-document.js";

/** The policies of the cluster at some moment. */
export interface ClusterState {
  /** The version of the delta that led to it. */
  readonly version: number;
  /** The documents by key. */
  readonly documents: ReadonlyMap<string, ClusterDocument>;
  /** All sets of policies that are answered together. */
  readonly sets: readonly PolicySetRoute[];
  /** Resources, as `<plural>.<group>`, that exist but could not be read: their policies are not known. */
  readonly unread: readonly string[];
}
