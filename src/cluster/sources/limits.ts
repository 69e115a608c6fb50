/** Bounds on the sources of policies. Times are milliseconds. */

/** Documents of one kind: twenty times what a large cluster has. More would take the memory that evaluation needs. */
export const MAX_DOCUMENTS = 20_000;
/** Bytes of one kind as they are held: 3 KiB for each of that many. */
export const MAX_KIND_BYTES = 64 * 1024 * 1024;
/** Documents of one kind in one namespace: half of what a large cluster has in all. Authors in a few namespaces must not take what all others have. */
export const MAX_NAMESPACE_DOCUMENTS = 500;
/** Bytes of one kind in one namespace, as they are held: 16 KiB for each of that many. */
export const MAX_NAMESPACE_BYTES = 8 * 1024 * 1024;
/** Bytes of a member of the spec, and of the status, of a policy whose namespace is left out: what its webhook is made of takes less. */
export const MAX_STUB_MEMBER_BYTES = 2_048;
/** How soon namespaces that are left out are looked at again when something in them has changed: all of the kind is listed for it. */
export const LEFT_OUT_AGAIN_MS = 30_000;
/** How long changes are gathered before they are told: whoever applies a folder of policies means one change. */
export const COALESCE_MS = 50;
/** How often it is asked whether a kind has come, where definitions may not be watched. */
export const PRESENCE_POLL_MS = 10_000;
/** How soon it is asked again for a kind that has been defined, but is not served yet: the API server takes some hundred milliseconds. */
export const PRESENCE_SOON_MS = 250;
/** After so many of these it is asked as rarely as where nothing is known. */
export const PRESENCE_SOON_TIMES = 40;
/** How often in a row discovery must say that a kind has gone before it is believed, where definitions may not be watched: an API server that starts does not know all. For a kind that was there these are {@link PRESENCE_POLL_MS} apart. */
export const GONE_TIMES = 3;
/** How often a kind that may not be listed is tried again. */
export const REFUSED_MS = 30_000;
