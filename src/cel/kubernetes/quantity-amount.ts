/**
 * The numbers of quantities (spec kubernetes-cel.md 4.9): decimal, in one of two representations, which `isInteger` and `asInteger` can tell
 * apart: a fast one (an int64 and a scale), and an arbitrarily precise one.
 */
import { INT_MAX, INT_MIN } from "../values/numbers.js";

/** The notation of a quantity, also for printing. */
export type QuantityFormat = "decimal" | "exponent" | "binary";

/** unscaled × 10^scale. */
export interface Amount {
  readonly unscaled: bigint;
  readonly scale: number;
  readonly fast: boolean;
}

/**
 * Largest difference of two scales at which numbers are added. The scale of a quantity may be in the millions (`1e1000000`); adding one to such would
 * write out all the digits between.
 */
const MAX_DIGITS_APART = 4_096;

const fitsInt64 = (value: bigint): boolean => value >= INT_MIN && value <= INT_MAX;

/** a + b: fast while the sum at the smaller scale fits an int64. `undefined` when the two are too far apart to be added. */
export function addAmounts(a: Amount, b: Amount): Amount | undefined {
  if (a.fast && b.fast) {
    if (b.unscaled === 0n) return a;
    if (a.unscaled === 0n) return b;
  }
  const scale = Math.min(a.scale, b.scale);
  if (Math.max(a.scale, b.scale) - scale > MAX_DIGITS_APART) return undefined;
  const left = a.unscaled * 10n ** BigInt(a.scale - scale);
  const right = b.unscaled * 10n ** BigInt(b.scale - scale);
  const unscaled = left + right;
  return { unscaled, scale, fast: a.fast && b.fast && fitsInt64(left) && fitsInt64(right) && fitsInt64(unscaled) };
}

/** Orders of magnitude that two amounts may be apart to be added as they are since 1.38; the finer one is rounded to so many. */
const MOST_APART = 29;

/** {@link addAmounts} since 1.38, which adds any two (spec kubernetes-1-38.md 1). */
export function addBounded(a: Amount, b: Amount): Amount {
  const apart = a.scale - b.scale;
  const fast = a.fast && b.fast;
  if (a.unscaled === 0n || b.unscaled === 0n) return { ...(b.unscaled === 0n ? a : b), fast };
  const sum = Math.abs(apart) > MOST_APART ? undefined : addAmounts(a, b);
  if (sum?.fast === true) return sum;
  const left = apart < 0 ? roundAmount(a, b.scale - MOST_APART) : a;
  const right = apart > 0 ? roundAmount(b, a.scale - MOST_APART) : b;
  return { ...(addAmounts(left, right) as Amount), fast: false };
}

/** `a - b` since 1.38. The negative of the least int64 is none. */
export const subtractBounded = (a: Amount, b: Amount): Amount =>
  addBounded(a, { ...negateAmount(b), fast: b.fast && b.unscaled !== INT_MIN });

/** The amount without the digits below a scale, rounded away from zero. */
export function roundAmount(amount: Amount, to: number): Amount {
  const { unscaled, scale } = amount;
  const dropped = to - scale;
  if (dropped <= 0 || unscaled === 0n) return amount;
  const unit = unscaled < 0n ? -1n : 1n;
  if (dropped > digitsOf(unscaled)) return { ...amount, unscaled: unit, scale: to };
  const divisor = 10n ** BigInt(dropped);
  const rest = unscaled % divisor === 0n ? 0n : unit;
  return { ...amount, unscaled: unscaled / divisor + rest, scale: to };
}

/** -a. */
export const negateAmount = (a: Amount): Amount => ({ ...a, unscaled: -a.unscaled });

/** -1, 0 or 1. */
export const signOf = ({ unscaled }: Amount): number => (unscaled === 0n ? 0 : unscaled < 0n ? -1 : 1);

/** Powers of ten as far as the scales of ordinary quantities are apart: from nano to exa. */
const POWERS = Array.from({ length: 28 }, (_, power) => 10n ** BigInt(power));

const digitsOf = (value: bigint): number => (value < 0n ? -value : value).toString().length;

/** The order of two amounts. Only those of about the same size are written out to be compared. */
export function compareAmounts(a: Amount, b: Amount): number {
  const apart = POWERS[Math.abs(a.scale - b.scale)];
  if (apart !== undefined) {
    return order(
      a.scale > b.scale ? a.unscaled * apart : a.unscaled,
      b.scale > a.scale ? b.unscaled * apart : b.unscaled,
    );
  }
  const sign = signOf(a);
  if (sign !== signOf(b)) return sign < signOf(b) ? -1 : 1;
  if (sign === 0) return 0;
  const magnitude = digitsOf(a.unscaled) + a.scale - (digitsOf(b.unscaled) + b.scale);
  if (magnitude !== 0) return magnitude > 0 ? sign : -sign;
  const scale = Math.min(a.scale, b.scale);
  return order(a.unscaled * 10n ** BigInt(a.scale - scale), b.unscaled * 10n ** BigInt(b.scale - scale));
}

const order = (a: bigint, b: bigint): number => (a === b ? 0 : a < b ? -1 : 1);

/** The int64 of an amount; `undefined` when it has none, or when its representation does not show it. */
export function integerOf({ unscaled, scale, fast }: Amount): bigint | undefined {
  if (!fast || scale < 0) return undefined;
  if (unscaled === 0n) return 0n;
  if (scale > 18) return undefined; // beyond any int64
  const value = unscaled * 10n ** BigInt(scale);
  return fitsInt64(value) ? value : undefined;
}

/** The largest power of ten of a double. */
const GREATEST_POWER = 308;
const LEAST_POWER = -323;
/** The step of the reference's tables, which have the powers 0 to 31 and the multiples of 32: it multiplies, and the product is not always the nearest double. */
const TABLE_STEP = 32;

function powerOfTen(power: number): number {
  if (power > GREATEST_POWER) return Number.POSITIVE_INFINITY;
  if (power < LEAST_POWER) return 0;
  const magnitude = Math.abs(power);
  const small = Number(`1e${magnitude % TABLE_STEP}`);
  const large = magnitude - (magnitude % TABLE_STEP);
  return power < 0 ? Number(`1e-${large}`) / small : Number(`1e${large}`) * small;
}

/** The unscaled value as a double times the power of ten; of 0 it is NaN for the largest ones until 1.38. */
export const approximate = ({ unscaled, scale }: Amount): number =>
  scale === 0 ? Number(unscaled) : Number(unscaled) * powerOfTen(scale);
