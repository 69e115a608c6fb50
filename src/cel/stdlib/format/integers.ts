/** The clauses on integers, which both versions of `format` print alike: `%d`, `%b`, `%o`, `%x` and `%X`. */
import { isInt } from "../../values/numbers.js";
import { Uint } from "../../values/uint.js";
import type { Value } from "../../values/value.js";
import type { Letter } from "./dialect.js";

const RADIX: Readonly<Partial<Record<Letter, number>>> = { d: 10, b: 2, o: 8, x: 16, X: 16 };

/** The digits of an int or uint, the sign kept; of a bool in binary; of text and octets in hexadecimal; `undefined` for other kinds. */
export function renderInteger(letter: Letter, value: Value): string | undefined {
  const text = digitsOf(letter, value);
  return letter === "X" ? text?.toUpperCase() : text;
}

function digitsOf(letter: Letter, value: Value): string | undefined {
  const radix = RADIX[letter] ?? 10;
  if (isInt(value)) return value.toString(radix);
  if (value instanceof Uint) return value.value.toString(radix);
  if (letter === "b" && typeof value === "boolean") return value ? "1" : "0";
  if (letter !== "x" && letter !== "X") return undefined;
  if (typeof value === "string") return Buffer.from(value, "utf8").toString("hex");
  return value instanceof Uint8Array ? Buffer.from(value).toString("hex") : undefined;
}
