/** Bounds on the Leases of replicas. Times are milliseconds. */

/** Between two renewals. */
export const RENEW_MS = 10_000;
/** How long a replica is there without one: three of them may fail. */
export const LIVE_MS = 40_000;
/** How long after that its Lease is deleted: it may have been slow only. */
export const DELETE_AFTER_MS = 20_000;
/** How often it is looked who has gone. */
export const LOOK_MS = 5_000;
/** Without an answer of the API server for so long nobody can be said to have gone: renewals would not be seen. */
export const BLIND_MS = 25_000;
/** How long announcements are gathered before they are written. */
export const ANNOUNCE_MS = 100;
/** Bytes of all announcements: Kubernetes allows annotations of 256 KiB in all. Enough for what 10,000 policies take. */
export const MAX_ANNOUNCED_BYTES = 200 * 1024;
/** Policies and sets that are announced, and as many versions: 9 bytes each, so that all else has a fifth of the room. */
export const MAX_ANNOUNCED_POLICIES = 9_000;
/** Time for one write. */
export const WRITE_MS = 5_000;
/** Leases that are looked at: more replicas than any server has. */
export const MAX_REPLICAS = 1_000;
