/** Random texts (spec kyverno.md 4.6). */
import { CelError, type FunctionDeclaration, fn, overload, type Result, STRING } from "../../../cel/index.js";
import type { KyvernoState } from "../state.js";
import { growing } from "./declare.js";
import { type CharacterRange, type Generator, readPattern } from "./random-pattern.js";

const DEFAULT_PATTERN = "[0-9a-z]{8}";
/** Most characters of a pattern. */
export const LONGEST_PATTERN = 1_000;
/** Most steps that the largest text of a pattern takes, and with them its characters: some 20 ms. */
export const MOST_STEPS = 100_000;

const LAST_CHARACTER = 0x10ffff;
const REPLACEMENT = "\ufffd";

/** A text that the pattern matches. */
export function randomText(pattern: string, random: () => number): Result {
  if (pattern.length > LONGEST_PATTERN) return new CelError("the pattern is too long to generate from", "too-large");
  const generator = readPattern(pattern);
  if (generator instanceof CelError) return generator;
  if (stepsOf(generator) > MOST_STEPS) return new CelError("the pattern's texts are too long", "too-large");
  if (hasNoText(generator)) return new CelError("internal error: invalid argument to Int31n");
  return generate(generator, random);
}

/** The steps of the largest text. */
function stepsOf(generator: Generator): number {
  switch (generator.kind) {
    case "text":
      return 1 + generator.text.length;
    case "class":
      return Math.max(1, generator.ranges.length);
    case "all":
      return generator.parts.reduce((sum, part) => sum + stepsOf(part), 1);
    case "one":
      return Math.max(...generator.parts.map(stepsOf)) + 1;
    case "repeat":
      return 1 + generator.max * stepsOf(generator.part);
  }
}

/** Whether a class is empty, which matches nothing. */
function hasNoText(generator: Generator): boolean {
  switch (generator.kind) {
    case "text":
      return false;
    case "class":
      return generator.ranges.length === 0;
    case "repeat":
      return hasNoText(generator.part);
    default:
      return generator.parts.some(hasNoText);
  }
}

function generate(generator: Generator, random: () => number): string {
  const below = (limit: number): number => Math.floor(random() * limit);
  switch (generator.kind) {
    case "text":
      return generator.text;
    case "class":
      return characterOf(memberOf(generator.ranges, below(generator.size)));
    case "all":
      return generator.parts.map((part) => generate(part, random)).join("");
    case "one":
      return generate(generator.parts[below(generator.parts.length)] as Generator, random);
    case "repeat": {
      let text = "";
      const count = generator.min + below(generator.max - generator.min + 1);
      for (let i = 0; i < count; i++) text += generate(generator.part, random);
      return text;
    }
  }
}

/** The character at an index of a class. */
function memberOf(ranges: readonly CharacterRange[], index: number): number {
  let left = index;
  for (const [from, to] of ranges) {
    if (left <= to - from) return from + left;
    left -= to - from + 1;
  }
  return 0;
}

const characterOf = (code: number): string =>
  code <= LAST_CHARACTER && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : REPLACEMENT;

const answer = (state: unknown, pattern: string): Result => {
  const own = state as KyvernoState;
  return randomText(pattern, () => own.random());
};

/** `random`. */
export const RANDOM_FUNCTIONS: readonly FunctionDeclaration[] = ["random", "random.random"].map((name) =>
  fn(
    name,
    {
      ...overload("random_string", [STRING], STRING),
      call: (state, pattern) => answer(state, pattern as string),
      work: { ...growing(1_000), fixed: 100_000 },
    },
    {
      ...overload("random_string_default_expr", [], STRING),
      call: (state) => answer(state, DEFAULT_PATTERN),
      work: growing(0),
    },
  ),
);
