import type { ClusterDelta, ClusterDocument, PolicySetRoute } from "../config/from-cluster/cluster-document.js";

/** The policies of the cluster at some moment. It does not change: the next moment has another state. */
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

/** A delta of everything, for processes that begin, or have missed one. */
export const wholeOf = ({ version, documents, sets }: ClusterState): ClusterDelta => ({
  ...{ version, base: 0, put: [...documents.values()], removed: [], sets },
});

/** A delta in which nothing changes: what could not be had before is tried again. */
export const emptyOf = ({ version, sets }: ClusterState): ClusterDelta => ({
  ...{ version, base: version, put: [], removed: [], sets },
});
