/** The text of literals. */
import { SHORT_ESCAPES } from "../../data/go/quoted-text.js";
import { Uint } from "../values/uint.js";
import type { Value } from "../values/value.js";

/** A literal that reads back as this value: null, bool, int, uint, double, string or bytes. Other constants, which folding makes, get a readable text. */
export function literalText(value: Value): string {
  switch (typeof value) {
    case "string":
      return `"${[...value].map(escaped).join("")}"`;
    case "boolean":
    case "bigint":
      return `${value}`;
    case "number":
      return Number.isSafeInteger(value) ? `${value}` : doubleText(value);
    default:
      if (value === null) return "null";
      if (value instanceof Uint) return `${value.value}u`;
      if (value instanceof Number) return doubleText(value.valueOf());
      return value instanceof Uint8Array ? `b"${Array.from(value, byteText).join("")}"` : String(value);
  }
}

/** A double always shows that it is one. */
function doubleText(value: number): string {
  if (!Number.isFinite(value)) return `double("${value}")`;
  const text = Object.is(value, -0) ? "-0" : `${value}`;
  return /[.e]/.test(text) ? text : `${text}.0`;
}

function escaped(character: string): string {
  const code = character.codePointAt(0)!;
  const known = SHORT_ESCAPES.get(character);
  if (known !== undefined) return known;
  return code < 0x20 || code === 0x7f ? `\\x${code.toString(16).padStart(2, "0")}` : character;
}

function byteText(byte: number): string {
  const character = String.fromCharCode(byte);
  if (byte >= 0x20 && byte < 0x7f) return SHORT_ESCAPES.get(character) ?? character;
  return `\\x${byte.toString(16).padStart(2, "0")}`;
}
