/** Bounds on what the audit asks and keeps. */

/** Objects that wait for answers (of a cluster, a registry, a guest) side by side. */
export const OBJECTS_AT_A_TIME = 16;
/** Problems that a summary tells; the rest is only counted. */
export const MAX_PROBLEMS = 100;
/** Namespaces whose labels are held. */
export const MAX_NAMESPACES = 100_000;
/** Objects that are remembered from round to round: 30 to 60 bytes each. Those beyond are evaluated in each round. */
export const MAX_SEEN_OBJECTS = 1_000_000;
/** Different sets of results that are remembered: objects share them. Objects with others are evaluated in each round. */
export const MAX_PATTERNS = 50_000;
/** How long a result is believed though nothing has changed: images, certificates and what guests look up change by themselves. */
export const RESULT_KEPT_MS = 24 * 3_600_000;
/** Results in a report: an object that breaks more policies has more urgent problems than the next line. */
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
/** Bytes of a result as it is stored: with as many results as a report has there is room for all that is around them. */
export const MAX_RESULT_BYTES = 10_000;
/** Bytes of a report: etcd takes 1.5 MiB, with what the API server adds. */
export const MAX_REPORT_BYTES = 1024 * 1024;
/** Problems with reports that are told of one namespace. */
export const MAX_PROBLEMS_OF_NAMESPACE = 10;
/** Milliseconds of work at a stretch before the audit looks whether it has to rest. */
export const STRETCH_MS = 20;
/** The part of a core that it takes while requests come. */
export const BUSY_SHARE = 0.2;
/** The longest rest at a time, since what was busy may be idle then; and the longest that is believed to have been one. */
export const MAX_REST_MS = 1_000;
/** How long after a change of policies or replicas a round begins: whoever applies a folder of policies means one change. */
export const CHANGE_DELAY_MS = 5_000;
/** How long changes may put a round off that come one after the other. */
export const LONGEST_CHANGE_DELAY_MS = 60_000;
/** How often it is looked whether files of policies have changed. */
export const FILE_LOOK_MS = 10_000;
