/**
 * Globs over references of images, in the syntax of Go's gobwas/glob without separators (spec kyverno.md 9): `*` also stands for slashes, `?` for one
 * character, and there are `[abc]`, `[a-z]`, `[!a]`, `{one,other}` and `\`. A match takes time in proportion to the glob and to the text.
 */
import { CelError, compilePattern } from "../../../cel/index.js";

/** The most characters of a glob. */
export const LONGEST_GLOB = 1_000;
/** The most characters of a reference that is matched: a longer one is none, so it counts as matching, and fails where it is read. */
export const LONGEST_MATCHED = 4_096;

/** A mistake in a glob. */
class GlobError extends Error {}

/** Makes a matcher; or the mistake, in the words of the reference. */
export function globMatcher(glob: string): ((image: string) => boolean) | { readonly error: string } {
  if (glob.length > LONGEST_GLOB) return { error: `the glob is longer than ${LONGEST_GLOB} characters` };
  try {
    const pattern = compilePattern(`(?s)\\A${new Parser(glob).source(false)}\\z`);
    if (pattern instanceof CelError) return { error: pattern.message };
    // Most end in their only special character.
    const prefix = /^[^?[\]{}\\*]*\*$/.test(glob) ? glob.slice(0, -1) : undefined;
    if (prefix !== undefined) return (image) => image.length > LONGEST_MATCHED || image.startsWith(prefix);
    return (image) => image.length > LONGEST_MATCHED || pattern.test(image);
  } catch (error) {
    if (error instanceof GlobError) return { error: error.message };
    throw error;
  }
}

/** A character in a regular expression. */
const escaped = (character: string): string => `\\x{${(character.codePointAt(0) ?? 0).toString(16)}}`;

/** Rewrites a glob as a regular expression (disposable). */
class Parser {
  readonly #rest: string[];

  constructor(glob: string) {
    this.#rest = [...glob];
  }

  /** The source up to the end. @param inside up to a comma or brace: a brace may stay open until the end */
  source(inside: boolean): string {
    let source = "";
    for (;;) {
      const next = this.#rest[0];
      if (next === undefined || (inside && (next === "," || next === "}"))) return source;
      this.#rest.shift();
      if (next === "*") source += ".*";
      else if (next === "?") source += ".";
      else if (next === "[") source += this.#set();
      else if (next === "{") source += this.#alternatives();
      else source += this.#literal(next);
    }
  }

  /** A character; one that is escaped is the next. */
  #literal(character: string): string {
    const literal = character === "\\" ? this.#rest.shift() : character;
    return literal === undefined ? "" : escaped(literal);
  }

  #alternatives(): string {
    const alternatives = [this.source(true)];
    while (this.#rest.shift() === ",") alternatives.push(this.source(true));
    return `(?:${alternatives.join("|")})`;
  }

  /** The rest of a set of characters: a range, or a list in which only `]` must be escaped. */
  #set(): string {
    const not = this.#rest[0] === "!" ? "^" : "";
    if (not !== "") this.#rest.shift();
    const [low, between, high] = this.#rest;
    let set = "";
    if (low !== undefined && between === "-") {
      this.#rest.splice(0, 3);
      if (high !== undefined) set = `${escaped(low)}-${escaped(high)}`;
    } else while (this.#rest.length > 0 && this.#rest[0] !== "]") set += this.#literal(this.#rest.shift() ?? "");
    const end = this.#rest.shift();
    if (end === undefined) throw new GlobError("unexpected end of input");
    if (end !== "]") throw new GlobError("expected close range character");
    if (set === "") throw new GlobError("could not parse range");
    if (between === "-" && (high?.codePointAt(0) ?? 0) < (low?.codePointAt(0) ?? 0))
      throw new GlobError(`hi character '${high}' should be greater than lo '${low}'`);
    return `[${not}${set}]`;
  }
}
