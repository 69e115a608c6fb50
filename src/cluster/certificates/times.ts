/** How long certificates live, and how long a rotation waits for others. Milliseconds. */

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** See the constants that {@link CERTIFICATE_TIMES} is made of. */
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

/** An authority signs for two thirds of a year, and is trusted for as long as its last certificate lives: rarely enough that its replacement is no routine. */
const AUTHORITY_MS = 365 * DAY;
/** As cert-manager and public authorities have it: a month is left to mend what keeps it from being renewed. */
const LEAF_MS = 90 * DAY;
/** Certificates begin earlier: the clocks of API servers may be behind by so much. */
const SKEW_MS = 5 * MINUTE;
/** API servers use a changed webhook configuration within seconds of its being written; one that is starved or cut off for a moment within this. */
const IN_FORCE_MS = MINUTE;
/** Where webhook configurations are not ours nobody can see whether they trust the new authority: people have a month. */
const UNMANAGED_MS = 30 * DAY;
/** An old authority stays when all live replicas have left it: one that was cut off from the API server for a while serves its certificate still. */
const SERVED_MS = 10 * MINUTE;
/** Before a certificate of an authority that nobody has seen yet is served: the leader tells the webhooks, and {@link IN_FORCE_MS} must have passed. */
const HELD_MS = IN_FORCE_MS + MINUTE / 2;
/** How often is looked at what time alone changes. It costs no request. */
const LOOK_MS = 10_000;
/** For the first certificate: a leader is elected within 15 s, and then needs two requests. */
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

/** When a certificate is replaced, as a part of its life: what goes wrong can be mended in the rest of it. */
export const RENEWED_AFTER = 2 / 3;
