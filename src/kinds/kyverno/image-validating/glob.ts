/**
 * Globs over references of images, in the syntax of Go's gobwas/glob without separators (spec kyverno.md 9): `*` also stands for slashes, `?` for one
 * character, and there are `[abc]`, `[a-z]`, `[!a]`, `{one,other}` and `\`. A match takes time in proportion to the glob and to the text.
 */

/** The most characters of a glob. */
export const LONGEST_GLOB = 1_000;
/** The most characters of a reference that is matched: a longer one is none, so it counts as matching, and fails where it is read. */
export const LONGEST_MATCHED = 4_096;

/** The ends of a part in the text for one place where it begins, or `any`. */
type Part = { readonly one: (character: string) => boolean } | { readonly alternatives: readonly Glob[] } | "any";
type Glob = readonly Part[];

/** A mistake in a glob. */
class GlobError extends Error {}

/** Makes a matcher; or the mistake, in the words of the reference. */
export function globMatcher(glob: string): ((image: string) => boolean) | { readonly error: string } {
  if (glob.length > LONGEST_GLOB) return { error: `the glob is longer than ${LONGEST_GLOB} characters` };
  try {
    const parts = new Parser(glob).parts(false);
    const pieces = /[?[\]{}\\]/.test(glob) ? undefined : glob.split("*");
    return (image) => {
      if (pieces !== undefined && image.length <= LONGEST_MATCHED) return hasPieces(image, pieces);
      const text = [...image.slice(0, LONGEST_MATCHED + 1)];
      return text.length > LONGEST_MATCHED || matched(parts, text, new Set([0])).has(text.length);
    };
  } catch (error) {
    if (error instanceof GlobError) return { error: error.message };
    throw error;
  }
}

/** The same for a glob without anything but `*`: the texts between them stand in this order, the first one at the beginning and the last one at the end. */
function hasPieces(text: string, pieces: readonly string[]): boolean {
  const [first = ""] = pieces;
  if (pieces.length === 1) return text === first;
  const last = pieces[pieces.length - 1] ?? "";
  const end = text.length - last.length;
  if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (let i = 1; i < pieces.length - 1; i++) {
    const piece = pieces[i] ?? "";
    const found = text.indexOf(piece, at);
    if (found === -1 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}

/** The places at which the parts can end. @param from the places at which they can begin */
function matched(parts: Glob, text: readonly string[], from: ReadonlySet<number>): ReadonlySet<number> {
  let places = from;
  for (const part of parts) {
    if (places.size === 0) break;
    const next = new Set<number>();
    if (part === "any") for (let at = Math.min(...places); at <= text.length; at++) next.add(at);
    else if ("alternatives" in part)
      for (const each of part.alternatives) for (const at of matched(each, text, places)) next.add(at);
    else for (const at of places) if (at < text.length && part.one(text[at] ?? "")) next.add(at + 1);
    places = next;
  }
  return places;
}

/** Reads a glob (disposable). */
class Parser {
  readonly #characters: readonly string[];
  #at = 0;

  constructor(glob: string) {
    this.#characters = [...glob];
  }

  /** The parts up to the end. @param inside up to a comma or brace: a brace may stay open until the end */
  parts(inside: boolean): Glob {
    const parts: Part[] = [];
    for (;;) {
      const next = this.#characters[this.#at];
      if (next === undefined || (inside && (next === "," || next === "}"))) return parts;
      this.#at += 1;
      if (next === "*") parts.push("any");
      else if (next === "?") parts.push({ one: () => true });
      else if (next === "[") parts.push({ one: this.#set() });
      else if (next === "{") parts.push({ alternatives: this.#alternatives() });
      else {
        const literal = next === "\\" ? this.#characters[this.#at++] : next;
        if (literal !== undefined) parts.push({ one: (character) => character === literal });
      }
    }
  }

  #alternatives(): readonly Glob[] {
    const alternatives = [this.parts(true)];
    while (this.#characters[this.#at++] === ",") alternatives.push(this.parts(true));
    return alternatives;
  }

  /** The rest of a set of characters: a range, or a list in which only `]` must be escaped. */
  #set(): (character: string) => boolean {
    const not = this.#characters[this.#at] === "!";
    if (not) this.#at += 1;
    const [low, between, high] = this.#characters.slice(this.#at, this.#at + 3);
    if (low !== undefined && between === "-") {
      if (high === undefined) throw new GlobError("unexpected end of input");
      this.#at += 3;
      this.#close();
      const [from, to] = [codeOf(low), codeOf(high)];
      if (to < from) throw new GlobError(`hi character '${high}' should be greater than lo '${low}'`);
      return (character) => (codeOf(character) >= from && codeOf(character) <= to) !== not;
    }
    const members = new Set<string>();
    for (;;) {
      const next = this.#characters[this.#at];
      if (next === undefined || next === "]") break;
      const member = next === "\\" ? this.#characters[++this.#at] : next;
      this.#at += 1;
      if (member !== undefined) members.add(member);
    }
    this.#close();
    if (members.size === 0) throw new GlobError("could not parse range");
    return (character) => members.has(character) !== not;
  }

  #close(): void {
    const next = this.#characters[this.#at++];
    if (next === undefined) throw new GlobError("unexpected end of input");
    if (next !== "]") throw new GlobError("expected close range character");
  }
}

const codeOf = (character: string): number => character.codePointAt(0) ?? 0;
