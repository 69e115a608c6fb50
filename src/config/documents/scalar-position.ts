/**
 * Finds the place in the file of a place inside a scalar's text, such as the column of a CEL error in a multi-line expression. Between file and value YAML
 * changes only white space and escapes, so the n-th visible character of the one is the n-th of the other.
 */
import { isBreak } from "../../data/yaml/characters.js";
import type { ScalarStyle } from "./source-node.js";

const SURROGATES = /^\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F]/;

/** Length in the source of every escape of a double-quoted scalar, by the letter after the backslash; others take two. */
const HEX_ESCAPES: Readonly<Record<string, number>> = { x: 4, u: 6, U: 10 };

/** Letters of escapes that stand for white space. */
const BLANK_ESCAPES: ReadonlySet<string> = new Set(["n", "t", "r", "N", "L", "P"]);

/**
 * @param source text of the file
 * @param start offset of the scalar (its quote or block header included)
 * @param end offset after it
 * @param value the scalar's text
 * @param offset UTF-16 offset in `value`
 * @returns the offset in `source` where that character is written; for white space, just after the character before it
 */
export function sourceOffset(
  source: string,
  { start, end, style }: { readonly start: number; readonly end: number; readonly style: ScalarStyle },
  value: string,
  offset: number,
): number {
  let visible = 0;
  for (const character of value.slice(0, offset)) if (!isBlank(character)) visible++;
  const next = value.slice(offset, offset + 1);
  const wantsNext = next !== "" && !isBlank(next);
  let after = contentStart(source, start, end, style);
  for (const { at, length } of visibleCharacters(
    source,
    after,
    style === "block" || style === "plain" ? end : end - 1,
    style,
  )) {
    if (visible === 0) return wantsNext ? at : after;
    visible--;
    after = at + length;
  }
  return after;
}

/** Whether a character is white space, which folding changes: a break may be any of YAML's, and become another in the value. */
function isBlank(character: string): boolean {
  return character === " " || character === "\t" || isBreak(character.charCodeAt(0));
}

/** Skips the quote, or the header line of a block scalar. */
function contentStart(source: string, start: number, end: number, style: ScalarStyle): number {
  if (style === "plain") return start;
  if (style !== "block") return start + 1;
  let content = start;
  while (content < end && !isBreak(source.charCodeAt(content))) content++;
  while (content < end && isBlank(source[content]!)) content++;
  return content;
}

/** The places of the characters of `source` that are visible in the value. */
function* visibleCharacters(
  source: string,
  from: number,
  to: number,
  style: ScalarStyle,
): Generator<{ at: number; length: number }> {
  for (let at = from; at < to; ) {
    const code = source.codePointAt(at)!;
    let length = code > 0xffff ? 2 : 1;
    let blank = isBlank(source[at]!);
    if (style === "single" && source[at] === "'") length = 2;
    if (style === "double" && source[at] === "\\") {
      const letter = source[at + 1] ?? "";
      length = HEX_ESCAPES[letter] ?? 2;
      // Of JSON, which alone has halves of characters: one character in two escapes.
      if (SURROGATES.test(source.slice(at, at + 2 * length))) length *= 2;
      blank = isBlank(escaped(letter, source.slice(at + 2, at + length)));
    }
    if (!blank) yield { at, length };
    at += length;
  }
}

/** A character for an escape, as far as blankness is concerned. */
function escaped(letter: string, digits: string): string {
  if (BLANK_ESCAPES.has(letter)) return " ";
  return letter in HEX_ESCAPES ? String.fromCodePoint(Math.min(Number.parseInt(digits, 16) || 1, 0x10ffff)) : letter;
}
