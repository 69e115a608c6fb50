/** Bounds on downloads: a slow, huge or hostile server ends in an error. */

/** Largest module, in bytes. The largest published Kubewarden policy has 22 MB. */
export const MAX_MODULE_BYTES = 256 * 1024 * 1024;
/**
 * Largest manifest, index or configuration of an image, and largest answer of a token service or credential helper, in bytes: usual ones have 2 to 20 KiB. Guests, policies and
 * requests name registries of their authors' own, and reading what these say holds up everybody else.
 */
export const MAX_ANSWER_BYTES = 256 * 1024;
/** Values in one of these: usual ones have some hundreds. Reading many small values takes the time. */
export const MAX_ANSWER_VALUES = 10_000;
/** Time for a connection, TLS included, in milliseconds. */
export const CONNECT_TIMEOUT_MS = 10_000;
/** Longest silence between two parts of an answer, in milliseconds. */
export const IDLE_TIMEOUT_MS = 30_000;
/** Time for a whole download, redirects and attempts included, in milliseconds. */
export const DOWNLOAD_TIMEOUT_MS = 300_000;
/** Time for a whole upload, and for each part of it, in milliseconds. */
export const UPLOAD_TIMEOUT_MS = 300_000;
/** Time for a credential helper, in milliseconds. */
export const HELPER_TIMEOUT_MS = 10_000;
/** Most redirects followed: registries hand blobs over to one storage, seldom two. */
export const MAX_REDIRECTS = 5;
/** Downloads at a time: enough to fill a line, few enough to be a polite client. */
export const MAX_PARALLEL_DOWNLOADS = 4;
/** Registry tokens kept. */
export const MAX_TOKENS = 200;
/** Seconds that a registry token lasts when its service doesn't say; from the distribution token specification. */
export const DEFAULT_TOKEN_SECONDS = 60;
