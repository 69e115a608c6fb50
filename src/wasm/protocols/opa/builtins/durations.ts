import { floatText } from "../../../../data/float-text.js";
import { parseGoDuration } from "../../../../data/go/duration.js";

/** Hours in each unit that OPA has beside Go's. */
const HOURS: Readonly<Record<string, number>> = { d: 24, w: 7 * 24, y: 365 * 24 };
const EXTENDED = /[dwy]/;
const SEGMENTS = /^([+-]?)((?:[0-9.]+(?:ms|us|\u00b5s|ns|[a-z]))+)$/;
const SEGMENT = /([0-9.]+)(ms|us|\u00b5s|ns|[a-z])/g;
/** A number as it is written before a unit. */
const DECIMAL = /^(?:\d+\.?\d*|\.\d+)$/;

/**
 * A duration such as `1h30m`, `-1.5s`, `1w2d` in nanoseconds; a day has 24 hours, a week 7 days, a year 365.
 * @throws when it is none, or too long
 */
export function parseDuration(text: string): bigint {
  const plain = EXTENDED.test(text) ? inHours(text) : text;
  const parsed = plain === undefined ? undefined : parseGoDuration(plain);
  if (parsed?.ok) return parsed.nanos;
  throw new Error(`time.parse_duration_ns: invalid duration ${JSON.stringify(text)}`);
}

/** The text with hours in place of days, weeks and years. */
function inHours(text: string): string | undefined {
  const [, sign = "", segments] = SEGMENTS.exec(text) ?? [];
  if (segments === undefined) return undefined;
  let plain = sign;
  for (const [segment, digits = "", unit = ""] of segments.matchAll(SEGMENT)) {
    const hours = Object.hasOwn(HOURS, unit) ? HOURS[unit] : undefined;
    if (hours === undefined) {
      plain += segment;
      continue;
    }
    const value = DECIMAL.test(digits) ? Number(digits) * hours : Number.NaN;
    if (!Number.isFinite(value)) return undefined;
    plain += `${floatText(value, "f", undefined).replace(/^\+/, "")}h`;
  }
  return plain;
}
