import { doubleOf, kindOf, type Uint, type Value } from "../../../cel/index.js";
import { quoteCharacter } from "../../../data/go/quote.js";

/** A key that is not a text, as Go's `%q` prints it: integers are printed as characters. */
export function quotedKey(key: Value): string {
  switch (kindOf(key)) {
    case "int":
      return quoteCharacter(BigInt(key as number | bigint), false);
    case "uint":
      return quoteCharacter(BigInt((key as Uint).value), false);
    case "double":
      return `%!q(types.Double=${doubleOf(key)})`;
    default:
      return `%!q(types.Bool=${String(key)})`;
  }
}
