/** The `?timeout=10s` that the API server appends to a webhook's address: how long it will wait. */

/** Milliseconds of one unit of a Go duration. */
const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};
/** Time for the way back to the client: an answer that arrives too late is lost. */
const RETURN_MS = 50;
/** Least time for an evaluation, even if its caller waits less: an immediate answer may still arrive. */
const LEAST_MS = 10;

/**
 * When the answer must be ready, in monotonic milliseconds; Infinity when the query has no valid time-out.
 * @param query the text behind `?`
 * @param received monotonic milliseconds at which the request began
 */
export function callerDeadline(query: string, received: number): number {
  if (query === "") return Number.POSITIVE_INFINITY;
  const given = /(?:^|&)timeout=([^&]*)/.exec(query)?.[1];
  const milliseconds = given === undefined ? undefined : parseGoDuration(given);
  if (milliseconds === undefined) return Number.POSITIVE_INFINITY;
  return received + Math.max(milliseconds - RETURN_MS, LEAST_MS);
}

/** Milliseconds of a Go duration such as `10s` or `1m30s`; undefined for an invalid one or one that is not positive. */
function parseGoDuration(text: string): number | undefined {
  if (!/^(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g)) {
    total += Number(amount) * (UNITS[unit ?? ""] ?? 0);
  }
  return total > 0 ? total : undefined;
}
