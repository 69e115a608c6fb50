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
/** Downloads at a time, of all processes: enough to fill a line, few enough to be a polite client. */
export const MAX_PARALLEL_DOWNLOADS = 4;
/** Requests about namespaced policies' modules at a time, of all processes, and of one namespace: a registry of a tenant's that never answers holds up no other tenant. */
export const NAMESPACED_QUESTIONS = { total: 8, share: 2 } as const;
/** Bytes of namespaced policies' modules that may be under way at a time, to all processes, and of one namespace: 6 and 2 of the usual limit. They lie in files. */
export const NAMESPACED_DOWNLOAD_BYTES = { total: 192 * 1024 * 1024, share: 64 * 1024 * 1024 } as const;
/**
 * Bytes of modules that all processes together hold in memory at a time, until they are compiled, and of one namespace. To prepare a module takes some four times
 * its size, and a pod has 1 GiB for everything.
 */
export const PREPARED_BYTES = { total: 64 * 1024 * 1024, share: 32 * 1024 * 1024 } as const;
/** Time for the download of a namespaced policy's module, at least; one of the largest size has {@link DOWNLOAD_TIMEOUT_MS}. In milliseconds. */
export const NAMESPACED_TIMEOUT_MS = 60_000;
/** Bytes of modules that a server keeps in its download folder: half of what the chart gives the folder, since {@link PASSING_BYTES} lie there, too. */
export const MAX_FOLDER_BYTES = 512 * 1024 * 1024;
/**
 * Bytes that are being fetched there, and of modules that lie there until they are loaded, when all that is kept is in use: {@link NAMESPACED_DOWNLOAD_BYTES} and four of the usual limit.
 * Others are tried again later.
 */
export const PASSING_BYTES = 320 * 1024 * 1024;
/** For how long a file counts as used after a process has said so, in milliseconds; it says so three times as often. */
export const IN_USE_MS = 60_000;
/** Age of a file that is being written, in milliseconds, from which on its writer is gone: no piece takes that long to come. */
export const ABANDONED_MS = 2 * DOWNLOAD_TIMEOUT_MS;
/** Bytes of what is fetched and is no module: an Extism manifest that holds its modules. */
export const MAX_OTHER_BYTES = 16 * 1024 * 1024;
/** Registry tokens kept. */
export const MAX_TOKENS = 200;
/** Seconds that a registry token lasts when its service doesn't say; from the distribution token specification. */
export const DEFAULT_TOKEN_SECONDS = 60;
