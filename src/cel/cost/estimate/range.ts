/** Ranges of sizes and costs: unsigned 64-bit, saturating (spec kubernetes-cel.md 5.4). */

/** A range, both ends included. */
export interface Range {
  readonly min: bigint;
  readonly max: bigint;
}

/** The largest size or cost there is; also stands for "unlimited". */
export const UINT_MAX = 2n ** 64n - 1n;

/** A size nothing is known about. */
export const UNKNOWN: Range = Object.freeze({ min: 0n, max: UINT_MAX });

const ZERO: Range = Object.freeze({ min: 0n, max: 0n });

/** The range of one value. */
export const fixed = (value: bigint): Range => ({ min: value, max: value });

const saturate = (value: bigint): bigint => (value > UINT_MAX ? UINT_MAX : value);

/** The sum of ranges. */
export function sum(...ranges: readonly Range[]): Range {
  return ranges.reduce((a, b) => ({ min: saturate(a.min + b.min), max: saturate(a.max + b.max) }), ZERO);
}

/** The product of two ranges. */
export const product = (a: Range, b: Range): Range => ({ min: saturate(a.min * b.min), max: saturate(a.max * b.max) });

/** The smaller of two. */
export function smaller(a: bigint, b: bigint): bigint {
  if (b < a) return b;
  return a;
}

/** The smallest range that holds both. */
export const union = (a: Range, b: Range): Range => ({
  min: smaller(a.min, b.min),
  max: smaller(a.max, b.max) === a.max ? b.max : a.max,
});

/** Both ends times a factor, in double arithmetic and rounded up, as the reference does it. */
export const scaled = ({ min, max }: Range, factor: number): Range => ({
  min: scaledEnd(min, factor),
  max: scaledEnd(max, factor),
});

function scaledEnd(value: bigint, factor: number): bigint {
  const cost = Math.ceil(Number(value) * factor);
  return cost >= 2 ** 64 ? UINT_MAX : BigInt(cost);
}

/** Arithmetic that wraps around, where the reference forgets to saturate. */
export const wrap = (value: bigint): bigint => BigInt.asUintN(64, value);
