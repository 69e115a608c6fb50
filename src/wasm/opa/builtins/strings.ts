import type { Builtin } from "./builtin.js";
import { textOf } from "./operands.js";

/** `strings.*` that are not compiled into modules. */
export const stringBuiltins: Readonly<Record<string, Builtin>> = {
  "strings.any_prefix_match": (search, base) => {
    const prefixes = texts(base, "strings.any_prefix_match");
    return texts(search, "strings.any_prefix_match").some((text) => prefixes.some((prefix) => text.startsWith(prefix)));
  },
  "strings.any_suffix_match": (search, base) => {
    const suffixes = texts(base, "strings.any_suffix_match");
    return texts(search, "strings.any_suffix_match").some((text) => suffixes.some((suffix) => text.endsWith(suffix)));
  },
  "strings.count": (search, substring) => count(textOf(search, "strings.count"), textOf(substring, "strings.count")),
};

/** A text or a collection of texts. */
function texts(value: unknown, builtin: string): string[] {
  return Array.isArray(value) ? value.map((item) => textOf(item, builtin)) : [textOf(value, builtin)];
}

/** How often the substring occurs, without overlaps; the empty one fits around every character. */
function count(search: string, substring: string): number {
  if (substring === "") return [...search].length + 1;
  return search.split(substring).length - 1;
}
