import { RegoSet } from "../rego-value.js";
import type { Builtin } from "./builtin.js";
import { textOf } from "./operands.js";

/** `strings.*` that are not compiled into modules. */
export const stringBuiltins: Readonly<Record<string, Builtin>> = {
  "strings.any_prefix_match": (search, base) =>
    beginsAny(texts(search, "strings.any_prefix_match"), texts(base, "strings.any_prefix_match")),
  "strings.any_suffix_match": (search, base) =>
    beginsAny(
      texts(search, "strings.any_suffix_match").map(reversed),
      texts(base, "strings.any_suffix_match").map(reversed),
    ),
  "strings.count": (search, substring) => count(textOf(search, "strings.count"), textOf(substring, "strings.count")),
};

/** A text or a collection of texts. */
function texts(value: unknown, builtin: string): string[] {
  const items = value instanceof RegoSet ? value.items : Array.isArray(value) ? value : [value];
  return items.map((item) => textOf(item, builtin));
}

/** Reverses a text, unit by unit: its suffixes become prefixes. */
const reversed = (text: string): string => text.split("").reverse().join("");

/** Whether any text begins with any prefix. In sorted order, texts with a prefix follow right behind it: comparing each with each takes quadratic time. */
function beginsAny(all: readonly string[], prefixes: readonly string[]): boolean {
  const sorted = [...all].sort(byUnits);
  return prefixes.some((prefix) => {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (byUnits(sorted[middle] ?? "", prefix) < 0) low = middle + 1;
      else high = middle;
    }
    return sorted[low]?.startsWith(prefix) === true;
  });
}

const byUnits = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Number of occurrences of the substring, without overlaps; the empty one fits around every character. */
function count(search: string, substring: string): number {
  let found = 0;
  if (substring === "") {
    for (const _ of search) found++;
    return found + 1;
  }
  for (let at = search.indexOf(substring); at >= 0; at = search.indexOf(substring, at + substring.length)) found++;
  return found;
}
