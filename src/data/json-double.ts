/** The number from which on Go writes a double with an exponent. */
const EXPONENT_FROM = 1e21;
const INT64_END = 2n ** 63n;

/**
 * A finite double after Go has written it as JSON and read it again: a whole one is written without fraction, and so becomes an integer, if it fits
 * int64. In the number model of `json.ts`.
 */
export function jsonDouble(double: number): number | bigint {
  if (!Number.isInteger(double) || Math.abs(double) >= EXPONENT_FROM) return double;
  if (Number.isSafeInteger(double)) return double + 0;
  // The shortest digits, filled up with zeros, rather than the double's own value.
  const integer = BigInt(String(double));
  return integer >= -INT64_END && integer < INT64_END ? integer : double;
}
