/** Makes expressions that are broken in ways people and attackers break them: mutated vectors, token soup, random characters, deep nesting. */
import { readVectors } from "./vectors.js";

/** A seeded source of random numbers (xorshift): the same seed gives the same expressions everywhere. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = (seed * 2654435761 + 1) >>> 0 || 1;
  }

  /** An integer from 0 up to, not including, `bound`. */
  below(bound: number): number {
    let state = this.#state;
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    this.#state = state >>> 0;
    return this.#state % bound;
  }

  /** One of some things. */
  pick<T>(things: readonly T[]): T {
    return things[this.below(things.length)]!;
  }
}

const TOKENS: readonly string[] = [
  ..."+ - * / % == != < <= > >= in && || ! ? : . , ( ) [ ] { } true false null 1 2u 1.5 's' x if `q` & = # @ \\ ` for 0x 1e".split(
    " ",
  ),
  ..."// é 😀 .? [? -1 a.b T{ ... x.y( has( l.all(x, -- !- ''' \" ' namespace 9223372036854775808 1e999 '\\ud800' b'\\u00e9'".split(
    " ",
  ),
  "\n",
  "\t",
  "\r",
  "//c\n",
  "\u0000",
  "\u2028",
  "\ud800",
];

const TOKEN = /\s+|[A-Za-z_]\w*|\d+(\.\d+)?|'[^']*'|"[^"]*"|==|!=|<=|>=|&&|\|\||./gsu;

/** Expressions of the vectors that are short enough to be mutated. */
export function seedExpressions(): readonly string[] {
  return ["curated.jsonl", "generated.jsonl"]
    .flatMap(readVectors)
    .map(({ expr }) => expr)
    .filter(({ length }) => length < 160);
}

/** A few random edits of one expression: tokens left out, put in, replaced, taken from another expression, cut off. */
export function mutate(random: Random, seeds: readonly string[]): string {
  let tokens: string[] = random.pick(seeds).match(TOKEN) ?? [];
  const edits = 1 + random.below(random.below(4) === 0 ? 6 : 2);
  for (let edit = 0; edit < edits; edit += 1) {
    const at = random.below(tokens.length + 1);
    switch (random.below(6)) {
      case 0:
        tokens.splice(at, 1 + random.below(3));
        break;
      case 1:
        tokens.splice(at, 0, random.pick(TOKENS));
        break;
      case 2:
        tokens.splice(at, 1, random.pick(TOKENS));
        break;
      case 3: {
        const other = random.pick(seeds).match(TOKEN) ?? [];
        const from = random.below(other.length + 1);
        tokens.splice(at, 0, ...other.slice(from, from + 1 + random.below(5)));
        break;
      }
      case 4:
        tokens = tokens.slice(0, at);
        break;
      default: {
        const token = tokens[at] ?? "";
        const cut = random.below(token.length + 1);
        tokens.splice(at, 1, token.slice(0, cut) + random.pick(TOKENS) + token.slice(cut + random.below(2)));
      }
    }
  }
  return tokens.join("");
}

/** Tokens in no order at all. */
export function soup(random: Random): string {
  return Array.from({ length: random.below(60) }, () => random.pick(TOKENS)).join(random.pick(["", " "]));
}

/** Random characters of one plane or another. */
export function noise(random: Random): string {
  const bound = random.pick([0x80, 0x100, 0x3000, 0x11_0000]);
  return String.fromCodePoint(...Array.from({ length: random.below(200) }, () => random.below(bound)));
}

/** One construct repeated, nested or not, up to the limit of size. */
export function repetition(random: Random): string {
  const open = random.pick([
    "(",
    "[",
    "{1:",
    "f(",
    "-(",
    "!(",
    "1+(",
    "a.b(",
    "a[",
    "T{a:",
    "[1].all(x, ",
    "a ? ",
    "-5[",
  ]);
  const close = random.pick([")", "]", "}", "", "1)", ": 1"]);
  const flat = random.pick([
    `${open}${close}`,
    "1+",
    "a.",
    "a && ",
    "!",
    "-",
    "#",
    "'",
    ",",
    "a b ",
    "? ",
    "x == ",
    "in ",
    "``",
  ]);
  const count = random.pick([10, 249, 250, 251, 5_000, 90_000]);
  const text = random.below(2) === 0 ? open.repeat(count) + close.repeat(count) : flat.repeat(count);
  return text.slice(0, 110_000);
}
