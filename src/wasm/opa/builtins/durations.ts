/** Go's time.ParseDuration, overflow and rounding included. */

/** Nanoseconds per unit. */
const UNITS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
/** The lowest duration is minus this, the highest one less. */
const LIMIT = 2n ** 63n;
/** Digits of a fraction that count: more do not fit 64 bits. */
const FRACTION_LIMIT = (LIMIT - 1n) / 10n;

/**
 * A duration such as `1h30m` or `-1.5s` in nanoseconds.
 * @throws when it is none, or too long
 */
export function parseDuration(text: string): bigint {
  const [, sign = "", rest = ""] = /^([+-]?)(.*)$/s.exec(text) ?? [];
  if (rest === "0") return 0n;
  if (!/^(?:(?:\d+\.?\d*|\.\d+)[^\d.]+)+$/s.test(rest)) throw invalid(text);
  let total = 0n;
  for (const [, whole = "", fraction = "", name = ""] of rest.matchAll(/(\d*)\.?(\d*)([^\d.]+)/gs)) {
    const unit = Object.hasOwn(UNITS, name) ? UNITS[name] : undefined;
    if (unit === undefined) throw invalid(text);
    const part = BigInt(whole || "0") * unit + partOf(fraction, unit);
    total += part;
    if (part > LIMIT || total > LIMIT) throw invalid(text);
  }
  if (sign === "-") return -total;
  if (total === LIMIT) throw invalid(text);
  return total;
}

/** The fraction's nanoseconds, rounded down in the way of doubles. */
function partOf(fraction: string, unit: bigint): bigint {
  let digits = 0n;
  let scale = 1;
  for (const digit of fraction) {
    if (digits > FRACTION_LIMIT || digits * 10n + BigInt(digit) > LIMIT) break;
    digits = digits * 10n + BigInt(digit);
    scale *= 10;
  }
  return BigInt(Math.trunc(Number(digits) * (Number(unit) / scale)));
}

function invalid(text: string): Error {
  return new Error(`time.parse_duration_ns: invalid duration ${JSON.stringify(text)}`);
}
