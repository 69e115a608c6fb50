/** Limits of the replicas' Leases. Times are milliseconds. */

/** Interval between two renewals. */
export const RENEW_MS = 10_000;
/** How long a replica counts as live without a renewal: three of them may fail. */
export const LIVE_MS = 40_000;
/** How long after that its Lease is deleted: it may only have been slow. */
export const DELETE_AFTER_MS = 20_000;
/** Interval of checks for replicas that have gone. */
export const LOOK_MS = 5_000;
/** Time without an answer of the API server after which no replica counts as gone: its renewals would not be seen. */
export const BLIND_MS = 25_000;
/** How long announcements are gathered before they are written. */
export const ANNOUNCE_MS = 100;
/** Bytes of all announcements: Kubernetes allows annotations of 256 KiB in all. Enough for 10,000 policies. */
export const MAX_ANNOUNCED_BYTES = 200 * 1024;
/** Policies and sets that are announced, and as many versions: 9 bytes each, which leaves a fifth of the room for everything else. */
export const MAX_ANNOUNCED_POLICIES = 9_000;
/** Time for one write. */
export const WRITE_MS = 5_000;
/** Leases that are read: more replicas than any server has. */
export const MAX_REPLICAS = 1_000;
