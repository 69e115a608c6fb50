/**
 * Finds the values of names in texts of any form: YAML (in blocks, lists and quotes), JSON, .env, ini, properties, commands of a shell. Texts are as long as
 * requests, and their senders choose them: every repetition is bounded, or no text is searched twice.
 */

/** The beginning and the end in the text. */
export type Range = readonly [start: number, end: number];

/** A name with the characters before its value: `password: x`, `"token": "x"`, `--secret=x`, `--secret x`. Each begins where none is before it. */
const NAMED =
  /(?<![\w./-])([\w./-]{2,128})(\\{0,7}["']?[ \t]{0,8}[?+]?(?:=>|:=|[:=])[ \t]{0,8}|[ \t]{1,8}(?:\\\r?\n[ \t]{0,8})?)/g;
/** Words that form a name only together with the word before: `api key: x`. */
const SECOND_WORD = /(?:key|string)$/i;
const WORDS_BEFORE = /(?:[A-Za-z][\w.-]{0,31}[ \t]){0,2}$/;
/** Characters before a name that are read: indentation, the mark of a list's item, a tag. */
const BEFORE = 200;
/** The text before a name that is the first of its line, apart from words of the name. */
const LINE_START = /^([ \t]*(?:[-?:][ \t]+)*)(?:[!&]\S*[ \t]+)?["']?$/;
/** In YAML: tags and anchors, then the head of a block. */
const PROPERTIES = /(?:[!&][^\s,{}[\]]*[ \t]+)*/y;
const BLOCK_HEAD = /^[|>][-+1-9]{0,2}[ \t]*(?:#.*)?$/;
/** A block in a text that is part of JSON, whose line ends are escapes. */
const ESCAPED_BLOCK = /[|>][-+1-9]{0,2}[ \t]*(?:\\+r)?\\+n[^"\n]*/y;
/** Nothing, or a comment. */
const EMPTY = /^[ \t]*(?:#.*)?$/;
/** A line that is neither another name with its value nor a comment, and begins neither a list nor a map. */
const GOES_ON = /^(?![ \t]*(?:- +)*(?:"[^"\n]*"|'[^'\n]*'|[^\s#"'[{|>][^:=\n]*)(?::(?:[ \t\r]|$)|=))(?![ \t]*[{[#])/;
const ANY = /^/;
/** An item of a list. */
const ITEM = /^[ \t]*-(?=\s|$)/;
/** The rest of a value in the midst of a line, up to where a line, a list or a map continues: behind a colon and behind all else. */
const REST = /[^"',;&}\])\n]*/y;
const WORD = /[^\s"',;&}\]]+/y;
/** Longest run of brackets' contents that is searched for its end. */
const LONGEST_LIST = 20_000;

/**
 * The values of names.
 * @param wanted whether the value of a name is wanted
 */
export function* namedValues(text: string, wanted: (name: string) => boolean): Generator<Range> {
  const finder = new Finder(text);
  let from = 0;
  for (const match of text.matchAll(NAMED)) {
    const [whole, name = "", between = ""] = match;
    if (match.index < from) continue;
    const isNamed = /[:=]/.test(between);
    const names = (called: string): boolean =>
      wanted(called) || (isNamed && SECOND_WORD.test(called) && wanted(wordsBefore(text, match.index) + called));
    // The letter of an escape, such as a line end in a text of JSON, is not part of the name.
    if (!names(name) && !(text[match.index - 1] === "\\" && names(name.slice(1)))) continue;
    const at = match.index + whole.length;
    const isFlag = name.startsWith("-");
    // Words that follow each other are not names and values, except behind a flag, or alone on a line, as in .properties.
    if (!isNamed && !isFlag && !finder.isLastWord(at)) continue;
    const column = isFlag ? undefined : columnOf(text, match.index, isNamed);
    if (!isNamed && !isFlag && column === undefined) continue;
    for (const range of finder.valuesAt(at, column, between.includes(":"))) {
      yield range;
      from = range[1];
    }
  }
}

const wordsBefore = (text: string, index: number): string =>
  WORDS_BEFORE.exec(text.slice(Math.max(0, index - BEFORE), index))?.[0] ?? "";

/**
 * The column of a name that is the first of its line; undefined for others.
 * @param mayHaveWords whether words may stand before it, as of a name with blanks
 */
function columnOf(text: string, index: number, mayHaveWords: boolean): number | undefined {
  const before = text.slice(Math.max(0, index - BEFORE), index);
  const begin = before.lastIndexOf("\n") + 1;
  if (begin === 0 && index > BEFORE) return undefined;
  const line = before.slice(begin);
  return LINE_START.exec(mayHaveWords ? line.replace(WORDS_BEFORE, "") : line)?.[1]?.length;
}

interface Line {
  readonly line: string;
  readonly start: number;
}

/** One instance per text. */
class Finder {
  readonly #text: string;
  readonly #hasLines: boolean;
  /** Quotes, with the backslashes before them, that have no further end. */
  readonly #open = new Set<string>();
  /** The last places found. */
  readonly #found = { "]": -1, "{": -1 };

  constructor(text: string) {
    this.#text = text;
    this.#hasLines = text.includes("\n");
  }

  /** Whether the word at a place is the last of its line, and there are other lines. */
  isLastWord(at: number): boolean {
    LAST_WORD.lastIndex = at;
    return this.#hasLines && LAST_WORD.test(this.#text);
  }

  /**
   * The value that begins at a place, or the items of a list.
   * @param column the name's column, where it is the first of its line
   * @param colon whether the value stands behind a colon
   */
  *valuesAt(at: number, column: number | undefined, colon: boolean): Generator<Range> {
    const text = this.#text;
    PROPERTIES.lastIndex = at;
    const start = at + (PROPERTIES.exec(text)?.[0].length ?? 0);
    const quoted = this.#quoted(at);
    if (quoted !== undefined) {
      yield quoted;
      return;
    }
    ESCAPED_BLOCK.lastIndex = start;
    const escaped = ESCAPED_BLOCK.exec(text)?.[0];
    if (escaped !== undefined) yield [start, start + escaped.length];
    else if (text[start] === "[") yield* this.#list(start);
    // Names in a map are searched separately.
    else if (text[start] === "{") return;
    else if (column === undefined) yield this.#word(at, colon);
    else yield* this.#lines(at, start, column);
  }

  /** The text between quotes, which may have several lines, or be triple, and escaped. */
  #quoted(at: number): Range | undefined {
    OPENING.lastIndex = at;
    const [opening = "", slashes = "", quote = ""] = OPENING.exec(this.#text) ?? [];
    if (opening === "") return undefined;
    const start = at + opening.length;
    const isTriple = slashes === "" && this.#text.startsWith(quote.repeat(3), at);
    if (isTriple) {
      const end = this.#text.indexOf(quote.repeat(3), start + 2);
      return [start + 2, end === -1 ? this.#text.length : end];
    }
    const end = this.#open.has(opening) ? -1 : this.#closing(start, quote, slashes.length);
    if (end === -1) {
      this.#open.add(opening);
      return [start, this.#lineEnd(start)];
    }
    // A shell joins adjacent texts.
    ADJACENT.lastIndex = end + opening.length;
    const more = ADJACENT.exec(this.#text)?.[0].length ?? 0;
    return [start, more === 0 ? end : end + opening.length + more];
  }

  /** The closing quote of a text: of those that are escaped as often as the opening one, the first that is not part of the text. */
  #closing(start: number, quote: string, slashes: number): number {
    for (let at = this.#text.indexOf(quote, start); at !== -1; at = this.#text.indexOf(quote, at + 1)) {
      let before = 0;
      while (at - before > start && this.#text[at - before - 1] === "\\") before += 1;
      const isEscaped = quote === "'" && slashes === 0 ? false : (before - slashes) % (2 * (slashes + 1)) !== 0;
      const isDoubled = quote === "'" && this.#text[at + 1] === "'";
      if (!isEscaped && !isDoubled) return at - Math.min(slashes, before);
      if (isDoubled) at += 1;
    }
    return -1;
  }

  /** The items of a list in brackets, of one line or several; names in maps of it are searched separately. */
  *#list(start: number): Generator<Range> {
    const bracket = this.#next("]", start);
    const end = bracket - start > LONGEST_LIST ? this.#lineEnd(start) : bracket;
    if (this.#next("{", start) > end) yield [start + 1, end];
  }

  /** The next place of a character; infinite where it does not occur. All requested places are in ascending order. */
  #next(character: "]" | "{", from: number): number {
    let at = this.#found[character];
    if (at < from) {
      const found = this.#text.indexOf(character, from);
      at = found === -1 ? Number.POSITIVE_INFINITY : found;
      this.#found[character] = at;
    }
    return at;
  }

  #word(start: number, colon: boolean): Range {
    const pattern = colon ? REST : WORD;
    pattern.lastIndex = start;
    const found = pattern.exec(this.#text)?.[0] ?? "";
    return [start, start + found.trimEnd().length];
  }

  /**
   * The text behind a name on its line, and the lines below that belong to it.
   * @param start behind possible tags and anchors, or the beginning of the value
   */
  *#lines(at: number, start: number, column: number): Generator<Range> {
    const end = this.#lineEnd(start);
    const rest = this.#text.slice(start, end).trimEnd();
    if (BLOCK_HEAD.test(rest)) yield this.#trimmed(end, this.#below(end, column, ANY));
    else if (EMPTY.test(rest)) yield* this.#values(end, column);
    else yield this.#trimmed(at, this.#below(end, column, GOES_ON));
  }

  /**
   * The end of the lines below that are indented more deeply than a column, or continue behind a backslash.
   * @param belonging the pattern of the former
   */
  #below(lineEnd: number, column: number, belonging: RegExp): number {
    let end = lineEnd;
    for (let next = lineEnd; next < this.#text.length; ) {
      const isContinued = /[^\\](?:\\\\)*\\\r?$/.test(this.#text.slice(Math.max(0, next - BEFORE), next));
      const following = this.#lineEnd(next + 1);
      const line = this.#text.slice(next + 1, following);
      const isBlank = line.trim() === "";
      if (!isBlank && !isContinued && (indentation(line) <= column || !belonging.test(line))) break;
      next = following;
      if (!isBlank) end = next;
    }
    return end;
  }

  /** The text below a name with nothing on its line: a list, one value, or names of its own, which are searched separately. */
  *#values(from: number, column: number): Generator<Range> {
    const first = this.#nextLine(from);
    if (first === undefined) return;
    const level = indentation(first.line);
    if (!ITEM.test(first.line) || level < column) {
      if (level > column && GOES_ON.test(first.line)) yield this.#trimmed(from, this.#below(from, column, ANY));
      return;
    }
    for (let item: Line | undefined = first; item !== undefined && ITEM.test(item.line); ) {
      const { line, start } = item;
      if (indentation(line) !== level) return;
      const end = this.#below(start + line.length, level, ANY);
      const written = line.slice(level + 1);
      if (GOES_ON.test(written) || /^[ \t]*\[/.test(written)) yield this.#trimmed(start + level + 1, end);
      item = this.#nextLine(end);
    }
  }

  /** The next line that is not blank. */
  #nextLine(lineEnd: number): Line | undefined {
    for (let end = lineEnd; end < this.#text.length; ) {
      const start = end + 1;
      end = this.#lineEnd(start);
      const line = this.#text.slice(start, end);
      if (line.trim() !== "") return { line, start };
    }
    return undefined;
  }

  /** The range without white space around it. */
  #trimmed(start: number, end: number): Range {
    const written = this.#text.slice(start, end);
    return [start + written.length - written.trimStart().length, start + written.trimEnd().length];
  }

  #lineEnd(at: number): number {
    const end = this.#text.indexOf("\n", at);
    return end === -1 ? this.#text.length : end;
  }
}

const OPENING = /(\\{0,7})(["'])/y;
const ADJACENT = /(?![\\"'])[^\s,;&}\])]+|(["'])(?!\1)[^"'\n]+\1[^\s,;&}\])]*/y;
const LAST_WORD = /[^\s{}[\]();]+[ \t]*\r?(?![^\n])/y;

const indentation = (line: string): number => line.length - line.replace(/^[ \t]+/, "").length;
