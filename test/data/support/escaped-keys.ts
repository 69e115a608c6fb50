/**
 * Objects with a key that is written with an escape, each with a text that must be read before. Some versions of V8 look for such a key among those that they have seen at the same
 * place, and compare as many characters of its text as it has without escapes (nodejs/node#63785): what has been read has a key of just these.
 */
import { chance } from "./some-json.js";

/** One object. */
export interface EscapedKeyCase {
  /** Read by the built-in parser before, it makes some versions of Node read {@link text} wrongly. */
  readonly before: string;
  readonly text: string;
  /** The key whose text has escapes, as it is written, as it is meant, and its value. */
  readonly written: string;
  readonly key: string;
  readonly value: number;
  /** All members in their order. */
  readonly members: readonly (readonly [string, unknown])[];
}

const LETTERS = "abcdefghijklmnopqrstuvwxyz";
/** Escapes that a printer writes, and those that it does not: nothing is written otherwise in place of the first. */
export const PRINTED = ['\\"', "\\\\", "\\n", "\\t", "\\b"] as const;

/**
 * Makes objects.
 * @param kind of escapes: `other` have the same meaning as a letter, `printed` are written by every printer
 */
export function* escapedKeyCases(
  seed: number,
  kind: "other" | "printed" | "any" = "any",
): Generator<EscapedKeyCase, never> {
  const next = chance(seed);
  const word = (least: number): string =>
    Array.from({ length: least + next(8) }, () => LETTERS[next(LETTERS.length)]).join("");
  for (;;) {
    const [start, end] = [word(0), word(0)];
    const letter = LETTERS[next(LETTERS.length)] ?? "";
    const other = next(3) === 0 ? "\\/" : `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
    const printed = PRINTED[next(PRINTED.length)] ?? "";
    const chosen = kind === "other" || (kind === "any" && next(2) === 0) ? other : printed;
    const written = `${start}${chosen}${end}`;
    // A text of JSON that is no object: the built-in parser reads it.
    const key = JSON.parse(`"${written}"`) as string;
    const seen = written.slice(0, key.length);
    const value = 1 + next(1_000);
    const first = Array.from({ length: 1 + next(3) }, () => [`${word(3)}1`, next(9)] as const);
    const last = Array.from({ length: next(3) }, () => [`${word(3)}2`, [`${word(1)}\n`]] as const);
    const printedMembers = (members: readonly (readonly [string, unknown])[]): string =>
      JSON.stringify(Object.fromEntries(members)).slice(1, -1);
    const texts = [printedMembers(first), `"${written}":${value}`, printedMembers(last)];
    yield {
      before: `{${printedMembers(first)},${JSON.stringify(seen)}:0}`,
      text: `{${texts.filter((text) => text !== "").join(",")}}`,
      written: `"${written}"`,
      key,
      value,
      members: [...first, [key, value], ...last],
    };
  }
}

/** The first of them. */
export function someEscapedKeys(count: number, seed: number, kind?: "other" | "printed"): readonly EscapedKeyCase[] {
  const cases = escapedKeyCases(seed, kind);
  return Array.from({ length: count }, () => cases.next().value);
}
