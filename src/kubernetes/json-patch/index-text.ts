import { quote } from "../../data/go/quote.js";

const DIGITS = /^[+-]?([0-9]*)/;
const INTEGER = /^[+-]?[0-9]+$/;
const MAX_UINT64 = 2n ** 64n - 1n;
const INT64_END = 2n ** 63n;
/** Characters that are within int64 whatever the digits. */
const SHORT = 16;
/** Digits beyond which a number without leading zeros is beyond all. */
const LONG = 21;

/** An index of a list as Go's `strconv.Atoi` reads it (`01` and `+1` are 1), or its error. */
export function parseIndex(text: string): number | string {
  const isInteger = INTEGER.test(text);
  if (text.length < SHORT) return isInteger ? Number(text) + 0 : atoiError(text, "invalid syntax");
  const digits = (DIGITS.exec(text)?.[1] ?? "").replace(/^0+/, "").slice(0, LONG);
  const magnitude = BigInt(digits);
  // It reads from the left: what is too large already need not be a number to its end.
  if (!isInteger) return atoiError(text, magnitude > MAX_UINT64 ? "value out of range" : "invalid syntax");
  const value = text.startsWith("-") ? -magnitude : magnitude;
  if (value >= INT64_END || value < -INT64_END) return atoiError(text, "value out of range");
  return Number(value);
}

const atoiError = (text: string, problem: string): string => `strconv.Atoi: parsing ${quote(text, false)}: ${problem}`;
