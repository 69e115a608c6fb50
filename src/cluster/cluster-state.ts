import type { ClusterDelta, ClusterDocument, PolicySetRoute } from "../config/from-cluster/cluster-document.js";

/** What the cluster holds of policies at some moment; it does not change: the next moment has another one. */
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

/** A delta of everything, for processes that begin, or have missed one. */
export const wholeOf = ({ version, documents, sets }: ClusterState): ClusterDelta => ({
  ...{ version, base: 0, put: [...documents.values()], removed: [], sets },
});

/** A delta in which nothing changes: what could not be had before is tried again. */
export const emptyOf = ({ version, sets }: ClusterState): ClusterDelta => ({
  ...{ version, base: version, put: [], removed: [], sets },
});
