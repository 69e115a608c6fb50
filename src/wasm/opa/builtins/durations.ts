import { parseGoDuration } from "../../../data/go-duration.js";

/**
 * A duration such as `1h30m` or `-1.5s` in nanoseconds.
 * @throws when it is none, or too long
 */
export function parseDuration(text: string): bigint {
  const parsed = parseGoDuration(text);
  if (parsed.ok) return parsed.nanos;
  throw new Error(`time.parse_duration_ns: invalid duration ${JSON.stringify(text)}`);
}
