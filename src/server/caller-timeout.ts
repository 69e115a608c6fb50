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
/** The way back to the client takes time too: an answer that arrives too late is lost. */
const RETURN_MS = 50;
/** A caller that waits less than this is given this nonetheless: an answer at once may still arrive. */
const LEAST_MS = 10;

/**
 * When the answer must be ready, in monotonic milliseconds; Infinity when the query says nothing that can be understood.
 * @param query what follows `?`
 * @param received monotonic milliseconds at which the request began
 */
export function callerDeadline(query: string, received: number): number {
  if (query === "") return Number.POSITIVE_INFINITY;
  const given = /(?:^|&)timeout=([^&]*)/.exec(query)?.[1];
  const milliseconds = given === undefined ? undefined : parseGoDuration(given);
  if (milliseconds === undefined) return Number.POSITIVE_INFINITY;
  return received + Math.max(milliseconds - RETURN_MS, LEAST_MS);
}

/** Milliseconds of a Go duration such as `10s` or `1m30s`; undefined when it is none or not positive. */
function parseGoDuration(text: string): number | undefined {
  if (!/^(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g)) {
    total += Number(amount) * (UNITS[unit ?? ""] ?? 0);
  }
  return total > 0 ? total : undefined;
}
