/** Times of an election in milliseconds: those of Kubernetes' own controllers. */

/** How long a Lease that is not renewed keeps others away. */
export const LEASE_MS = 15_000;
/** How long after its last renewal a leader that cannot renew goes on: well before another may lead. */
export const RENEW_DEADLINE_MS = 10_000;
/** Between two attempts. */
export const RETRY_MS = 2_000;
/** By how much more those wait who do not lead. */
export const JITTER = 1.2;
/** Time for one attempt: two of them fail before a leader gives up. */
export const ATTEMPT_MS = 5_000;
/** Between two attempts where the account may not. */
export const REFUSED_RETRY_MS = 30_000;
