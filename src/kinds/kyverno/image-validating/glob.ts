/**
 * Globs over references of images, in the syntax of Go's gobwas/glob without separators (spec kyverno.md 9): `*` also stands for slashes, `?` for one
 * character, and there are `[abc]`, `[a-z]`, `[!a]`, `{one,other}` and `\`. A match takes time in proportion to the glob and to the text.
 */
import { CelError, compilePattern } from "../../../cel/index.js";

/** The most characters of a glob. */
export const LONGEST_GLOB = 1_000;
/**
 * The most characters of a reference that is matched: one has at most 800. A longer text is none, so it counts as matching, and fails where it is read. The
 * longest match takes some 30 ms.
 */
export const LONGEST_MATCHED = 1_024;

/** The parts of a glob. In a list only `]` must be escaped; a bracket that is none of a set is a mistake. */
const PART =
  /\\(?<literal>.?)|\[(?<not>!|(?!!))(?:(?<low>.)-(?<high>.)|(?!.-)(?<list>(?:\\.|[^\]\\])+))\]|\[(?<rest>.*)|./gsu;

/** Makes a matcher; or the mistake, in the words of the reference. */
export function globMatcher(glob: string): ((image: string) => boolean) | { readonly error: string } {
  if (glob.length > LONGEST_GLOB) return { error: `the glob is longer than ${LONGEST_GLOB} characters` };
  let source = "";
  let open = 0;
  for (const { 0: part, groups = {} } of glob.matchAll(PART)) {
    const { literal = part, not = "", low, high, list, rest } = groups;
    if (rest !== undefined) return { error: bracketError(rest) };
    if (low !== undefined && high !== undefined) {
      if (codeOf(high) < codeOf(low)) return { error: `hi character '${high}' should be greater than lo '${low}'` };
      source += `[${not && "^"}${escaped(low)}-${escaped(high)}]`;
    } else if (list !== undefined) source += `[${not && "^"}${escaped(list.replace(/\\(.)/gsu, "$1"))}]`;
    else if (part === "*") source += ".*";
    else if (part === "?") source += ".";
    else if (part === "{") source += "(?:";
    else if (part === "," && open > 0) source += "|";
    else if (part === "}" && open > 0) source += ")";
    else source += escaped(literal);
    if (part === "{") open++;
    else if (part === "}" && open > 0) open--;
  }
  // A brace may stay open.
  const pattern = compilePattern(`(?s)\\A${source}${")".repeat(open)}\\z`);
  if (pattern instanceof CelError) return { error: pattern.message };
  // Most globs end in their only special character, and matching takes longer than all else that is known of an image.
  const prefix = /^[^?[\]{}\\*]*\*$/.test(glob) ? glob.slice(0, -1) : undefined;
  if (prefix !== undefined) return (image) => image.length > LONGEST_MATCHED || image.startsWith(prefix);
  return (image) => image.length > LONGEST_MATCHED || pattern.test(image);
}

function bracketError(rest: string): string {
  if (/^!?.-../su.test(rest)) return "expected close range character";
  return /^!?\]/.test(rest) && !/^!?.-/su.test(rest) ? "could not parse range" : "unexpected end of input";
}

const codeOf = (character: string): number => character.codePointAt(0) ?? 0;

/** Characters in a regular expression. */
const escaped = (text: string): string => Array.from(text, (each) => `\\x{${codeOf(each).toString(16)}}`).join("");
