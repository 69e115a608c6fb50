import { quote } from "../../data/go-quote.js";

const INTEGER = /^[+-]?[0-9]+$/;
const MAX_INT64 = 2n ** 63n - 1n;
/** Digits that are within int64 whatever they are. */
const SHORT = 16;

/** An index of a list as Go's `strconv.Atoi` reads it (`01` and `+1` are 1), or its error. */
export function parseIndex(text: string): number | string {
  if (!INTEGER.test(text)) return atoiError(text, "invalid syntax");
  // Beyond every list: how far does not matter, but messages say it.
  if (text.length < SHORT) return Number(text) + 0;
  const value = BigInt(text.replace("+", ""));
  if (value > MAX_INT64 || value < -MAX_INT64 - 1n) return atoiError(text, "value out of range");
  return Number(value);
}

const atoiError = (text: string, problem: string): string => `strconv.Atoi: parsing ${quote(text, false)}: ${problem}`;
