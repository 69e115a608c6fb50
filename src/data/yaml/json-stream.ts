/** Finds the end of JSON in a text that may continue with more of it, or with YAML. */
import { closingQuote } from "../json-values.js";

const QUOTE = 0x22;
/** White space of JSON. */
const BLANKS = /[ \t\r\n]*/y;
/** A number or a word, up to a character that can't belong to it. */
const WORD = /(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)/y;

/** The end of JSON's white space that begins at an offset. */
export function jsonBlanksEnd(text: string, from: number): number {
  BLANKS.lastIndex = from;
  BLANKS.test(text);
  return BLANKS.lastIndex;
}

/**
 * The end of the JSON value that begins at an offset: the text between need not be JSON, but JSON ends nowhere else.
 * @returns -1 where none begins or it has no end
 */
export function jsonEnd(text: string, from: number): number {
  const first = text.charCodeAt(from);
  if (first === QUOTE) return closingQuote(text, from + 1) + 1 || -1;
  if (first === 0x7b || first === 0x5b) return bracketsEnd(text, from);
  WORD.lastIndex = from;
  const [word] = WORD.exec(text) ?? [];
  if (word === undefined) return -1;
  const end = from + word.length;
  // A dot or an exponent with no digits behind it is part of the number, and its error.
  const next = text[end] ?? "";
  const goesOn = (next === "." && !/[.eEa-z]/.test(word)) || (/^[eE]/.test(next) && /^-?[0-9.]+$/.test(word));
  return goesOn ? -1 : end;
}

function bracketsEnd(text: string, from: number): number {
  let depth = 0;
  for (let i = from; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) {
      i = closingQuote(text, i + 1);
      if (i < 0) return -1;
    } else if (c === 0x7b || c === 0x5b) depth++;
    else if ((c === 0x7d || c === 0x5d) && --depth === 0) return i + 1;
  }
  return -1;
}
