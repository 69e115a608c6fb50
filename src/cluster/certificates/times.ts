/** Lifetimes of certificates, and waits of a rotation for others. Milliseconds. */

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** See the constants that make up {@link CERTIFICATE_TIMES}. */
export interface CertificateTimes {
  readonly authority: number;
  readonly leaf: number;
  readonly skew: number;
  readonly inForce: number;
  readonly unmanaged: number;
  readonly served: number;
  readonly held: number;
  readonly look: number;
  readonly first: number;
}

/**
 * An authority signs for two thirds of a year, and is trusted for as long as its last certificate lives: rarely enough that its replacement does not become
 * routine.
 */
const AUTHORITY_MS = 365 * DAY;
/** The usual lifetime with cert-manager and public authorities: a month is left to correct what prevents a renewal. */
const LEAF_MS = 90 * DAY;
/** Certificates begin earlier by so much: the clocks of API servers may be behind. */
const SKEW_MS = 5 * MINUTE;
/** Time until API servers use a changed webhook configuration: seconds mostly; this includes one that is starved or cut off for a moment. */
const IN_FORCE_MS = MINUTE;
/** Where we do not keep webhook configurations, it is not known whether they trust the new authority: people have a month. */
const UNMANAGED_MS = 30 * DAY;
/** How long an old authority stays after all live replicas have left it: one that was cut off from the API server for a while still serves its certificate. */
const SERVED_MS = 10 * MINUTE;
/** How long a certificate of an unknown authority is held back: the leader updates the webhooks, and {@link IN_FORCE_MS} must have passed. */
const HELD_MS = IN_FORCE_MS + MINUTE / 2;
/** Interval of checks for what time alone changes. They cost no request. */
const LOOK_MS = 10_000;
/** Wait for the first certificate: a leader is elected within 15 s, and then needs two requests. */
const FIRST_MS = MINUTE;

/** For real clusters. */
export const CERTIFICATE_TIMES: CertificateTimes = {
  authority: AUTHORITY_MS,
  leaf: LEAF_MS,
  skew: SKEW_MS,
  inForce: IN_FORCE_MS,
  unmanaged: UNMANAGED_MS,
  served: SERVED_MS,
  held: HELD_MS,
  look: LOOK_MS,
  first: FIRST_MS,
};

/** When a certificate is replaced, as a part of its life: the rest is for correcting problems. */
export const RENEWED_AFTER = 2 / 3;
