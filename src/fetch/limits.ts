/** Limits of downloads: a slow, huge or hostile server ends in an error. */

/** Largest module, in bytes. The largest published Kubewarden policy has 22 MB. */
export const MAX_MODULE_BYTES = 256 * 1024 * 1024;
/**
 * Largest manifest, index or configuration of an image, and largest answer of a token service or credential helper, in bytes: usual ones have 2 to 20
 * KiB. Guests, policies and requests name registries of their authors, whose answers must not hold up other requests while they are parsed.
 */
export const MAX_ANSWER_BYTES = 256 * 1024;
/** Most JSON values of such an answer: usual ones have some hundreds. Parsing time depends on their number. */
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
/** Most redirects followed: registries redirect blobs to one storage, seldom to two. */
export const MAX_REDIRECTS = 5;
/** Downloads at a time, of all processes: enough to use the bandwidth, few enough to be a polite client. */
export const MAX_PARALLEL_DOWNLOADS = 4;
/**
 * Requests about namespaced policies' modules at a time, of all processes, and of one namespace: a tenant's registry that never answers delays no
 * other tenant.
 */
export const NAMESPACED_QUESTIONS = { total: 8, share: 2 } as const;
/**
 * Bytes of namespaced policies' modules that may be under way at a time, to all processes, and of one namespace: 6 and 2 of the usual limit. They are
 * kept in files.
 */
export const NAMESPACED_DOWNLOAD_BYTES = { total: 192 * 1024 * 1024, share: 64 * 1024 * 1024 } as const;
/**
 * Bytes of modules that all processes together hold in memory at a time, until they are compiled, and of one namespace. Preparing a module takes some
 * four times its size, and a pod has 1 GiB for everything.
 */
export const PREPARED_BYTES = { total: 64 * 1024 * 1024, share: 32 * 1024 * 1024 } as const;
/** Time for the download of a namespaced policy's module, at least, in milliseconds; one of the largest size has {@link DOWNLOAD_TIMEOUT_MS}. */
export const NAMESPACED_TIMEOUT_MS = 60_000;
/** Bytes of modules that a server keeps in its download folder: half of the folder's size in the chart, since {@link PASSING_BYTES} need room there, too. */
export const MAX_FOLDER_BYTES = 512 * 1024 * 1024;
/**
 * Bytes in that folder that are being fetched, or wait to be loaded while all kept modules are in use: {@link NAMESPACED_DOWNLOAD_BYTES} and four of
 * the usual limit. Others are tried again later.
 */
export const PASSING_BYTES = 320 * 1024 * 1024;
/** Milliseconds for which a file counts as used after a process has marked it; processes mark it three times as often. */
export const IN_USE_MS = 60_000;
/** Age of a file that is being written, in milliseconds, at which its writer counts as gone: no piece takes that long to arrive. */
export const ABANDONED_MS = 2 * DOWNLOAD_TIMEOUT_MS;
/** Most bytes of a fetched file that is not a module: an Extism manifest with inline modules. */
export const MAX_OTHER_BYTES = 16 * 1024 * 1024;
/** Most registry tokens that are kept. */
export const MAX_TOKENS = 200;
/** Seconds that a registry token lasts without a time of its service; from the distribution token specification. */
export const DEFAULT_TOKEN_SECONDS = 60;
