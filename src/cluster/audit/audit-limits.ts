/** Limits of the audit's evaluations and memory. */

/** Most objects that wait for answers (of a cluster, a registry, a guest) at the same time. */
export const OBJECTS_AT_A_TIME = 16;
/** Most problems in a summary; the rest is only counted. */
export const MAX_PROBLEMS = 100;
/** Most namespaces whose labels are kept. */
export const MAX_NAMESPACES = 100_000;
/** Most places of policies in an index by Namespace: 8 MiB. With more it begins anew. */
export const MAX_INDEXED_POLICIES = 1_000_000;
/** Most objects that are remembered from round to round: 30 to 60 bytes each. Those beyond are evaluated in each round. */
export const MAX_SEEN_OBJECTS = 1_000_000;
/** Most different sets of results that are remembered: objects share them. Objects with others are evaluated in each round. */
export const MAX_PATTERNS = 50_000;
/** Milliseconds for which a result counts without a change: images, certificates and guests' look-ups change by themselves. */
export const RESULT_KEPT_MS = 24 * 3_600_000;
/** Results in a report: an object that breaks more policies has more urgent problems than another line. */
export const MAX_REPORT_RESULTS = 100;
/** Characters of a message in a report. */
export const MAX_MESSAGE_LENGTH = 1_000;
/** Properties of a result, and characters of each. */
export const MAX_PROPERTIES = 20;
export const MAX_PROPERTY_LENGTH = 500;
/** Characters of a category, a rule, a source, and of the name of a property: Kubernetes' own names have 63. */
export const MAX_WORD_LENGTH = 100;
/** Characters of a policy's name, behind that of its namespace. */
export const MAX_NAME_LENGTH = 400;
/** Bytes of a result as it is stored: with the most results of a report there is room for the rest of it. */
export const MAX_RESULT_BYTES = 10_000;
/** Bytes of a report: etcd accepts 1.5 MiB, with the API server's additions. */
export const MAX_REPORT_BYTES = 1024 * 1024;
/** Most problems with reports of one namespace in a summary. */
export const MAX_PROBLEMS_OF_NAMESPACE = 10;
/** Milliseconds of work at a stretch before the audit checks whether it must rest. */
export const STRETCH_MS = 20;
/** The part of a core that the audit uses while requests come. */
export const BUSY_SHARE = 0.2;
/** The longest rest at a time, since the load may have ended by then; and the longest that counts as one. */
export const MAX_REST_MS = 1_000;
/** Milliseconds from a change of policies or replicas to a round: applying a folder of policies is one change. */
export const CHANGE_DELAY_MS = 5_000;
/** Milliseconds by which consecutive changes may delay a round. */
export const LONGEST_CHANGE_DELAY_MS = 60_000;
/** Milliseconds between two checks for changed files of policies. */
export const FILE_LOOK_MS = 10_000;
