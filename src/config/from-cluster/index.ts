/** Policies that are resources of a cluster, as entries of a configuration. */
export type { ClusterDelta, ClusterDocument, LoadedPolicyReport, PolicySetRoute } from "./cluster-document.js";
export { ClusterDocuments } from "./cluster-documents.js";
export {
  type ClusterEntries,
  type ClusterEntry,
  type ClusterEntryOptions,
  ClusterEntryReader,
  type EntryDocument,
} from "./cluster-entries.js";
export type { NamespacedLimits } from "./namespaced-limits.js";
export {
  NAMESPACED_POLICY_KINDS,
  type NamespacedPolicyKind,
  parseKey,
  policyIdOf,
  shownName,
} from "./policy-ids.js";
export type { FetchTerms } from "./policy-server.js";
export { countsIn } from "./resource-entries.js";
export { type RolledOut, Rollouts } from "./rollouts.js";
