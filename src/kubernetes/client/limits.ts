/** Limits of requests to a cluster. Times are milliseconds. */

/** Time for one request that is not a watch: above the slowest list page, far below the time that callers wait. */
export const REQUEST_MS = 10_000;
/** Time for a connection, TLS included. */
export const CONNECT_MS = 5_000;
/** Largest answer: a page of {@link PAGE_ITEMS} objects of 256 KiB each. Of larger ones a page has fewer. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** Largest event of a watch: the API server stores objects up to 1.5 MiB, which grow when printed as JSON. */
export const MAX_EVENT_BYTES = 16 * 1024 * 1024;
/** Connections for requests at a time: enough for a busy server, few enough to be a polite client. Each watch has one of its own. */
export const MAX_CONNECTIONS = 16;
/** Most repetitions of a request that the API server has put off (`Retry-After`). */
export const MAX_RETRIES = 3;
/** Longest wait that the API server may ask for. */
export const MAX_RETRY_AFTER_MS = 5_000;
/** Most objects in a page of a list: parsing one must not delay requests for long. */
export const PAGE_ITEMS = 250;
/** Most bytes of such a page, where it has more than one object: reading it takes some 50 ms, and writing it down some 30, during which requests wait. */
export const STORE_PAGE_BYTES = 4 * 1024 * 1024;
/** Most objects in one store, and bytes of their JSON: more would take the memory that policies need. */
export const MAX_STORE_OBJECTS = 100_000;
export const MAX_STORE_BYTES = 256 * 1024 * 1024;
/** Most stores, each with a watch: guests choose selectors, perhaps from requests. The least recently used is removed. */
export const MAX_STORES = 128;
/**
 * Most bytes of all lists together: half of the volume for files in our manifests, where removed ones stay for a minute, and whose limit
 * the kubelet enforces by ending the pod. The least recently used list is removed.
 */
export const MAX_STORES_BYTES = 512 * 1024 * 1024;
/** Time for which the API server is asked to keep a watch open. */
export const WATCH_SECONDS = 290;
/** Longest silence of a watch: bookmarks come every minute, so that a longer one means a dead connection. */
export const WATCH_SILENCE_MS = 100_000;
/** Wait before the first and the following attempts to watch again; doubled each time up to the last. */
export const FIRST_BACKOFF_MS = 250;
export const LAST_BACKOFF_MS = 30_000;
/** Failed attempts to continue a watch after which everything is listed again. */
export const FAILURES_BEFORE_LIST = 3;
/** Interval of questions whether an API server that was away is ready again: changed policies wait for the answer. */
export const WATCH_READY_MS = 500;
/** Time for one such question. */
export const READY_ANSWER_MS = 2_000;
/** How long after its return refusals are taken for passing: it reads its roles meanwhile. */
export const SETTLING_MS = 30_000;
/** How long a store without contact to the API server is still used. */
export const MAX_STALENESS_MS = 300_000;
/** How long a failure is the answer to the same question: once a second is often enough to ask a server that fails. */
export const FAILURE_KEPT_MS = 1_000;
/**
 * Least time from one list to the next for each of its pages, where the list has failed or may not be watched: a page costs the API server some
 * milliseconds of a processor, and an account that may list without watching would otherwise list everything for every question.
 */
export const PAGE_REST_MS = 1_000;
/** Longest time until something that was refused is tried again: a right has its effect soon after it was given. */
export const LAST_REFUSAL_MS = 60_000;
/** Least rest until a followed list that was too large is read again. */
export const LARGE_LIST_REST_MS = 30_000;
/** Longest rest between two lists, however many pages they have. */
export const LAST_REST_MS = 300_000;
/** Longest time until a list that failed for another reason is tried again: it is needed as soon as the API server is back. */
export const LAST_FAILURE_MS = 8_000;
/** Most objects that have a watch of their own, because policies ask for them by name. For more names of a kind its list is watched. */
export const MAX_NAMED_STORES = 64;
/** How long such a watch continues without questions for its object. */
export const NAMED_STORE_KEPT_MS = 600_000;
/** How long objects and access answers without a watch are used (spec kubewarden.md 7.2). */
export const ANSWER_KEPT_MS = 5_000;
/** How long an object counts as absent: policies and their parameters are created together. */
export const ABSENCE_KEPT_MS = 1_000;
/** How long a policy waits for an object by name, and for the store of its parameters (spec validating-admission-policy.md 2.7, 4.5). */
export const PARAMETER_WAIT_MS = 1_000;
/** How long the resource of a kind is used: it changes when an operator installs or upgrades something. */
export const VERSIONS_KEPT_MS = 600_000;
/** How long the versions of a resource are used: until a new one is known, a rule that names only it does not match. */
export const EQUIVALENTS_KEPT_MS = 30_000;
/** Least time between two questions for an unknown kind, where its definition would be noticed. */
export const UNKNOWN_KIND_KEPT_MS = 10_000;
/** How long answers about kinds that are not built in are used where their definitions may not be watched. */
export const UNWATCHED_KIND_KEPT_MS = 1_000;
/** How long a question for a kind is not repeated: discovery keeps answers itself, and callers at the same moment share one answer. */
export const LOOK_AGAIN_MS = 50;
/** How long after a change of a definition discovery may still give the former state; until then it is asked again after {@link CHANGING_KIND_KEPT_MS}. */
export const DEFINITION_SETTLES_MS = 3_000;
export const CHANGING_KIND_KEPT_MS = 200;
/** Most API groups of which the last change of a definition is kept. */
export const MAX_CHANGED_GROUPS = 1_000;
/** Most API versions whose resources are kept: a large cluster has 150. */
export const MAX_API_VERSIONS = 1_000;
/** How long the list of OpenAPI documents is used: as long as the API server's own mutation of objects uses it. */
export const DOCUMENT_LIST_KEPT_MS = 5_000;
/** How long an unused OpenAPI document is kept: its address changes with its content. */
export const DOCUMENT_KEPT_MS = 600_000;
/** Most OpenAPI documents that are kept: each may take megabytes, and mutations concern objects of a few groups. */
export const MAX_DOCUMENTS = 32;
/** Largest OpenAPI document: the largest built-in one has 1.5 MB, definitions of custom resources may have 1.5 MB each. */
export const MAX_DOCUMENT_BYTES = 16 * 1024 * 1024;
/** Most answers kept of each sort. */
export const MAX_ANSWERS = 10_000;
/** How often token and CA files are read again: a mounted token is replaced long before it expires. */
export const CREDENTIAL_FILES_MS = 60_000;
/** Time for a credential plugin, which may ask a cloud. */
export const PLUGIN_MS = 30_000;
/** Largest answer of a credential plugin. */
export const PLUGIN_MAX_BYTES = 1024 * 1024;
/** Time before their expiry at which credentials are renewed. */
export const EXPIRY_MARGIN_MS = 30_000;
/** The first wait after work on an object, or a list that is followed, has failed. */
export const FIRST_RETRY_MS = 1_000;
/** The longest such wait for work on an object: after the cause is corrected, its effect must not take longer. */
export const LAST_RETRY_MS = 300_000;
/** The step in which waits end: few timers, however many requests wait. */
export const RETRY_STEP_MS = 1_000;
/** Bytes of a page above which the next one has fewer objects: objects may have 1.5 MiB each. */
export const LARGE_PAGE_BYTES = 8 * 1024 * 1024;
/** Most pages of one kind: more objects than any cluster holds; an endless list must not be followed forever. */
export const MAX_PAGES = 100_000;
/** Most times that a list is continued after its place has expired (410): the API server keeps one for five minutes. */
export const MAX_RESUMPTIONS = 100;
