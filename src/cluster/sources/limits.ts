/** Limits of the sources of policies. Times are milliseconds. */

/** Documents of one kind: twenty times what a large cluster has. More would take the memory that evaluation needs. */
export const MAX_DOCUMENTS = 20_000;
/** Bytes of one kind in memory: 3 KiB for each of that many. */
export const MAX_KIND_BYTES = 64 * 1024 * 1024;
/** Documents of one kind in one namespace: half of a large cluster's total. Authors in a few namespaces must not use up the room of all others. */
export const MAX_NAMESPACE_DOCUMENTS = 500;
/** Bytes of one kind in one namespace, in memory: 16 KiB for each of that many. */
export const MAX_NAMESPACE_BYTES = 8 * 1024 * 1024;
/** Bytes of a member of the spec, and of the status, of a policy whose namespace is omitted: the inputs of its webhook take less. */
export const MAX_STUB_MEMBER_BYTES = 2_048;
/** How soon omitted namespaces are checked again when something in them has changed: all of the kind is listed for it. */
export const LEFT_OUT_AGAIN_MS = 30_000;
/** How long changes are gathered before they are sent: applying a folder of policies is meant as one change. */
export const COALESCE_MS = 50;
/** Interval of checks whether a kind exists, where definitions may not be watched. */
export const PRESENCE_POLL_MS = 10_000;
/** How soon the check is repeated for a kind that has been defined, but is not served yet: the API server takes some hundred milliseconds. */
export const PRESENCE_SOON_MS = 250;
/** Number of such repetitions, after which the check is as rare as where nothing is known. */
export const PRESENCE_SOON_TIMES = 40;
/**
 * Number of consecutive answers without a kind after which it counts as gone, where definitions may not be watched: an API server that starts does not know
 * all. For a kind that existed these are {@link PRESENCE_POLL_MS} apart.
 */
export const GONE_TIMES = 3;
