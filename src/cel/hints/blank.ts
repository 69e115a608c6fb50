/** Blanks the contents of an expression's strings and comments, keeping all places: so that patterns find only its syntax. */

/** Stands for every character inside of a string. */
export const FILL = "\u0001";

/** The result of blanking. */
export interface Blanked {
  readonly text: string;
  /** The beginning of a string without an end; undefined where all strings end. */
  readonly open: number | undefined;
}

/** Blanks a text. Strings in backquotes stay: CEL quotes names so. */
export function blanked(source: string): Blanked {
  let text = "";
  let i = 0;
  let open: number | undefined;
  while (i < source.length) {
    const character = source[i]!;
    if (source.startsWith("//", i)) {
      const end = endOfLine(source, i);
      text += " ".repeat(end - i);
      i = end;
    } else if (character === '"' || character === "'") {
      const quote = source.startsWith(character.repeat(3), i) ? character.repeat(3) : character;
      const raw =
        /[rR][bB]?$/.test(source.slice(Math.max(0, i - 2), i)) &&
        !/\w[rR][bB]?$/.test(source.slice(Math.max(0, i - 3), i));
      const end = endOfString(source, i + quote.length, quote, raw);
      if (end === undefined) {
        open ??= i;
        text += source.slice(i);
        break;
      }
      text += quote + FILL.repeat(end - i - 2 * quote.length) + quote;
      i = end;
    } else {
      text += character;
      i += 1;
    }
  }
  return { text, open };
}

function endOfLine(source: string, from: number): number {
  const end = source.indexOf("\n", from);
  return end === -1 ? source.length : end;
}

function endOfString(source: string, from: number, quote: string, raw: boolean): number | undefined {
  for (let i = from; i < source.length; i += 1) {
    if (source[i] === "\\" && !raw) i += 1;
    else if (source.startsWith(quote, i)) return i + quote.length;
    else if (quote.length === 1 && source[i] === "\n") return undefined;
  }
  return undefined;
}

/** A match in the blanked text: its groups as they stand in the source. */
export type Groups = readonly (string | undefined)[];

/**
 * Replaces the matches of a pattern in the blanked text.
 * @param pattern with the flags `d` and `g`
 * @param write the new text, of the groups as they stand in the source; undefined to leave it
 */
export function rewritten(source: string, pattern: RegExp, write: (groups: Groups) => string | undefined): string {
  const { text } = blanked(source);
  let result = "";
  let done = 0;
  for (const match of text.matchAll(pattern)) {
    const groups = (match.indices ?? []).map((range) => range && source.slice(range[0], range[1]));
    const replacement = write(groups);
    if (replacement === undefined) continue;
    result += source.slice(done, match.index) + replacement;
    done = match.index + match[0].length;
  }
  return result + source.slice(done);
}
