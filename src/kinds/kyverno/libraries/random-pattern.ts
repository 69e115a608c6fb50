/** Patterns that texts are generated from: Go's regular expressions without Perl's additions (spec kyverno.md 4.6). */
import { CelError } from "../../../cel/index.js";

/** A part of a pattern, from which texts are generated. */
export type Generator =
  | { readonly kind: "text"; readonly text: string }
  | CharacterClass
  | { readonly kind: "all" | "one"; readonly parts: readonly Generator[] }
  | Repeated;

/** One of many characters. */
export interface CharacterClass {
  readonly kind: "class";
  readonly ranges: readonly CharacterRange[];
  /** The number of characters. */
  readonly size: number;
}

/** A part that is repeated. */
export interface Repeated {
  readonly kind: "repeat";
  readonly part: Generator;
  readonly min: number;
  readonly max: number;
  readonly operator: "*" | "+" | "?" | "{";
}

/** The first and the last code point of a range. */
export type CharacterRange = readonly [from: number, to: number];

/** Most repetitions of an unlimited part, as in the reference's library. */
const ENDLESS = 4_096;
/** Most repetitions that Go accepts in braces. */
const MOST_REPEATED = 1_000;
const LAST_CHARACTER = 0x10ffff;
const LAST_INT32 = 0x7fffffff;
const NEWLINE = 0x0a;

/** Any character but a line break. The reference's library uses any number as a character, and nearly all are invalid. */
const ANY: readonly CharacterRange[] = [[1, LAST_INT32]];

/** Reads a pattern; the error is Go's. */
export function readPattern(pattern: string): Generator | CelError {
  try {
    return new Reader(pattern).read();
  } catch (error) {
    if (error instanceof Problem) return new CelError(`error parsing regexp: ${error.message}`, "conversion");
    throw error;
  }
}

class Problem extends Error {
  constructor(reason: string, text: string) {
    super(`${reason}: \`${text}\``);
  }
}

const CLASSES: Readonly<Record<string, string>> = {
  alnum: "09AZaz",
  alpha: "AZaz",
  ascii: "\0\x7f",
  blank: "\t\t  ",
  cntrl: "\0\x1f\x7f\x7f",
  digit: "09",
  graph: "!~",
  lower: "az",
  print: " ~",
  punct: "!/:@[`{~",
  space: "\t\r  ",
  upper: "AZ",
  word: "09AZ__az",
  xdigit: "09AFaf",
};

const ESCAPES: Readonly<Record<string, number>> = { a: 7, f: 12, n: 10, r: 13, t: 9, v: 11 };

class Reader {
  readonly #pattern: string;
  #at = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  read(): Generator {
    const generator = this.#alternatives();
    if (this.#at < this.#pattern.length) throw new Problem("unexpected )", this.#pattern);
    return generator;
  }

  #alternatives(): Generator {
    const parts = [this.#sequence()];
    while (this.#accept("|")) parts.push(this.#sequence());
    return parts.length === 1 ? (parts[0] as Generator) : { kind: "one", parts };
  }

  #sequence(): Generator {
    const parts: Generator[] = [];
    for (;;) {
      const rest = this.#pattern.slice(this.#at, this.#at + REPETITION_LENGTH);
      if (rest === "" || rest.startsWith("|") || rest.startsWith(")")) return { kind: "all", parts };
      const repetition = repetitionOf(rest);
      if (repetition === undefined) {
        parts.push(this.#atom());
        continue;
      }
      const part = parts.pop();
      const { min, max, text } = repetition;
      if (min > MOST_REPEATED || max === Number.POSITIVE_INFINITY || max < min) {
        throw new Problem("invalid repeat count", text);
      }
      if (part === undefined) throw new Problem("missing argument to repetition operator", text);
      const repeated = squashed({ kind: "repeat", part, ...repetition });
      if (text.startsWith("{") && (min > 1 || max > 1) && !mayRepeat(repeated, MOST_REPEATED)) {
        throw new Problem("invalid repeat count", text);
      }
      parts.push(repeated);
      this.#at += text.length;
    }
  }

  #atom(): Generator {
    const character = this.#take();
    switch (character) {
      case "(": {
        const group = this.#alternatives();
        if (!this.#accept(")")) throw new Problem("missing closing )", this.#pattern);
        return group;
      }
      case "[":
        return classOf(this.#class(this.#at - 1));
      case ".":
        return classOf(ANY);
      case "^":
      case "$":
        return { kind: "text", text: "" };
      case "\\":
        return { kind: "text", text: String.fromCodePoint(this.#escape(this.#at - 1)) };
      default:
        return { kind: "text", text: character };
    }
  }

  #class(start: number): readonly CharacterRange[] {
    const negated = this.#accept("^");
    const ranges: CharacterRange[] = negated ? [[NEWLINE, NEWLINE]] : [];
    for (let first = true; first || this.#pattern[this.#at] !== "]"; first = false) {
      const next = this.#pattern[this.#at];
      if (next === undefined) throw new Problem("missing closing ]", this.#pattern.slice(start));
      if (next === "-" && !first && this.#pattern[this.#at + 1] !== "]") {
        throw new Problem("invalid character class range", this.#pattern.slice(this.#at, this.#at + 2));
      }
      const named = /^\[:(\^?)(.*?):\]/.exec(this.#pattern.slice(this.#at));
      if (named === null) ranges.push(this.#range(start));
      else {
        const [text, not, name = ""] = named;
        const pairs = Object.hasOwn(CLASSES, name) ? CLASSES[name] : undefined;
        if (pairs === undefined) throw new Problem("invalid character class range", text);
        const members = rangesOf(pairs);
        ranges.push(...(not === "" ? members : inverse(members)));
        this.#at += text.length;
      }
    }
    this.#at++;
    const members = negated ? inverse(ranges) : ranges;
    return members.map(([from, to]) => [Math.max(1, from), to] as const);
  }

  #range(classStart: number): CharacterRange {
    const start = this.#at;
    const from = this.#member(classStart);
    if (this.#pattern[this.#at] !== "-" || this.#pattern[this.#at + 1] === "]") return [from, from];
    if (this.#at + 1 >= this.#pattern.length) return [from, from];
    this.#at++;
    const to = this.#member(classStart);
    if (to < from) throw new Problem("invalid character class range", this.#pattern.slice(start, this.#at));
    return [from, to];
  }

  #member(classStart: number): number {
    if (this.#at >= this.#pattern.length) throw new Problem("missing closing ]", this.#pattern.slice(classStart));
    const start = this.#at;
    const character = this.#take();
    return character === "\\" ? this.#escape(start) : (character.codePointAt(0) ?? 0);
  }

  /** The code point of an escape. */
  #escape(start: number): number {
    if (this.#at >= this.#pattern.length) throw new Problem("trailing backslash at end of expression", "");
    const match = /^(?:0[0-7]{0,2}|[1-7][0-7]{1,2}|x[0-9A-Fa-f]{2}|x\{[0-9A-Fa-f]+\})/.exec(
      this.#pattern.slice(this.#at),
    )?.[0];
    if (match !== undefined) {
      this.#at += match.length;
      const code = match.startsWith("x") ? Number.parseInt(match.replace(/[x{}]/g, ""), 16) : Number.parseInt(match, 8);
      if (code <= LAST_CHARACTER) return code;
      this.#at--;
    } else {
      const character = this.#take();
      const digits =
        character === "x" ? /^(?:\{[0-9A-Fa-f]{0,6}|[0-9A-Fa-f])/.exec(this.#pattern.slice(this.#at))?.[0] : "";
      this.#at += digits?.length ?? 0;
      const code = ESCAPES[character];
      if (code !== undefined) return code;
      if (/^[!-/:-@[-`{-~ ]$/.test(character)) return character.charCodeAt(0);
    }
    throw new Problem("invalid escape sequence", this.#pattern.slice(start, this.#at));
  }

  #take(): string {
    const character = String.fromCodePoint(this.#pattern.codePointAt(this.#at) ?? 0);
    this.#at += character.length;
    return character;
  }

  #accept(character: string): boolean {
    if (this.#pattern[this.#at] !== character) return false;
    this.#at++;
    return true;
  }
}

const classOf = (ranges: readonly CharacterRange[]): CharacterClass => ({
  kind: "class",
  ranges,
  size: ranges.reduce((sum, [from, to]) => sum + to - from + 1, 0),
});

/** Length of the longest repetition in braces. */
const REPETITION_LENGTH = 64;

interface Repetition {
  readonly min: number;
  readonly max: number;
  readonly operator: Repeated["operator"];
  readonly text: string;
}

/** A part that is repeated twice without braces is repeated without limit. */
function squashed({ kind, part, min, max, operator }: Repeated): Repeated {
  if (operator === "{" || part.kind !== "repeat" || part.operator === "{") return { kind, part, min, max, operator };
  return part.operator === operator ? part : { kind, part: part.part, min: 0, max: ENDLESS, operator: "*" };
}

/** Whether nested braces stay within the limit. */
function mayRepeat(generator: Generator, most: number): boolean {
  switch (generator.kind) {
    case "text":
    case "class":
      return true;
    case "repeat": {
      if (generator.operator !== "{") return mayRepeat(generator.part, most);
      const times = generator.max > MOST_REPEATED ? generator.min : generator.max;
      return (
        generator.max === 0 || (times <= most && mayRepeat(generator.part, times > 0 ? Math.floor(most / times) : most))
      );
    }
    default:
      return generator.parts.every((part) => mayRepeat(part, most));
  }
}

function repetitionOf(rest: string): Repetition | undefined {
  switch (rest[0]) {
    case "*":
      return { min: 0, max: ENDLESS, operator: "*", text: "*" };
    case "+":
      return { min: 1, max: ENDLESS, operator: "+", text: "+" };
    case "?":
      return { min: 0, max: 1, operator: "?", text: "?" };
  }
  const [text, min, comma, max] = /^\{(0|[1-9][0-9]*)(,?)(0|[1-9][0-9]*|)\}/.exec(rest) ?? [];
  // Other text in braces is literal.
  if (text === undefined || (comma === "" && max !== "")) return undefined;
  const least = Number(min);
  const most = comma === "" ? least : max === "" ? Math.max(ENDLESS, least) : Number(max);
  const bounded = comma === "" || max !== "";
  return { min: least, max: bounded && most > MOST_REPEATED ? Number.POSITIVE_INFINITY : most, operator: "{", text };
}

function rangesOf(pairs: string): CharacterRange[] {
  const ranges: CharacterRange[] = [];
  for (let i = 0; i < pairs.length; i += 2) ranges.push([pairs.charCodeAt(i), pairs.charCodeAt(i + 1)]);
  return ranges;
}

/** All other characters. */
function inverse(ranges: readonly CharacterRange[]): CharacterRange[] {
  const result: CharacterRange[] = [];
  let next = 0;
  for (const [from, to] of [...ranges].sort(([a], [b]) => a - b)) {
    if (from > next) result.push([next, from - 1]);
    next = Math.max(next, to + 1);
  }
  if (next <= LAST_CHARACTER) result.push([next, LAST_CHARACTER]);
  return result;
}
