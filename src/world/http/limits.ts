/** Limits of policies' requests to HTTP servers. Times are milliseconds. */

/** Time for one question, redirects included: as long as the API server waits for a webhook that does not say otherwise. */
export const ANSWER_MS = 10_000;
/** Time for one connection, name and TLS included. */
export const CONNECT_MS = 5_000;
/** Largest body of an answer to a request's question, which may name the server: read, at its worst, within some 30 ms. */
export const MAX_BODY_BYTES = 512_000;
/** Most values in it: making so many doubles takes 60 ms at most, and a tenth of that for usual ones. */
export const MAX_BODY_VALUES = 30_000;
/** Most redirects that are followed: as many as Go's client follows. */
export const MAX_REDIRECTS = 10;
/** Most connections to one server at a time: enough for a busy policy, few enough to be a polite client. */
export const MAX_CONNECTIONS = 16;
/** Most clients with certificates of their own (`http.Client`): policies have a handful, and a text from a request must not open more. */
export const MAX_CLIENTS = 16;
/** Most servers whose connections are kept, for each client: addresses may come from requests, and each has a pool of its own. */
export const MAX_ORIGINS = 256;
