/** Texts for functions: for each some that it accepts, and some that it refuses. */
import type { Value } from "../values/value.js";

// A text that a pattern matches, as far as that is easily found: the first alternative of each group, the fewest repetitions.

const CLASSES: Readonly<Record<string, string>> = { d: "1", w: "a", s: " ", D: "a", W: "-", S: "a" };

/** Characters of the longest pattern with an example: groups are read by functions that call each other. */
const MOST_CHARACTERS = 500;

/** An example text; one that does not match does no harm: it is one sample of many. */
function exampleOf(pattern: string): string {
  return pattern.length > MOST_CHARACTERS ? "" : alternatives({ rest: pattern.replace(/^\(\?[a-zA-Z]+\)/, "") });
}

interface Reader {
  rest: string;
}

/** Reads up to the end of a group; alternatives after `|` are read and left out. */
function alternatives(reader: Reader): string {
  let first: string | undefined;
  let text = "";
  while (reader.rest !== "" && !reader.rest.startsWith(")")) {
    if (reader.rest.startsWith("|")) {
      first ??= text;
      text = "";
      reader.rest = reader.rest.slice(1);
    } else text += repeated(reader);
  }
  return first ?? text;
}

function repeated(reader: Reader): string {
  const text = atom(reader);
  const [whole = "", least = ""] = /^(?:\{(\d+)(?:,\d*)?\}|[+*?])\??/.exec(reader.rest) ?? [];
  reader.rest = reader.rest.slice(whole.length);
  return text.repeat(least === "" ? 1 : Math.min(Number(least), MOST_REPETITIONS));
}

const MOST_REPETITIONS = 64;

function atom(reader: Reader): string {
  const [first = ""] = reader.rest;
  const take = (length: number): string => {
    const taken = reader.rest.slice(0, length);
    reader.rest = reader.rest.slice(length);
    return taken;
  };
  if (first === "(") {
    take(/^\((?:\?(?:P?<\w+>|[a-z]*:))?/.exec(reader.rest)?.[0].length ?? 1);
    const text = alternatives(reader);
    take(1);
    return text;
  }
  if (first === "[") {
    const [whole = "[", negated = "", inside = ""] =
      /^\[(\^?)((?:\\.|\[:\w+:\]|[^\]\\])[^\]]*)\]/.exec(reader.rest) ?? [];
    take(whole.length);
    return negated === "" ? inClass(inside) : "~";
  }
  if (first === "\\") return escaped(take(2).slice(1));
  take(1);
  if (first === ".") return "a";
  return first === "^" || first === "$" ? "" : first;
}

function inClass(inside: string): string {
  if (inside.startsWith("\\")) return escaped(inside.slice(1, 2));
  return inside.startsWith("[:") ? "a" : (inside[0] ?? "");
}

/** The text for an escaped character; places such as `\b` are not characters. */
function escaped(character: string): string {
  return /[bBAz]/.test(character) ? "" : (CLASSES[character] ?? character);
}

const QUANTITIES = ["1", "2Gi", "500m", "a"];
const VERSIONS = ["1.0.0", "2.1.0", "a"];
const ADDRESSES = ["10.0.0.1", "192.168.1.1", "::1", "a"];
const BLOCKS = ["10.0.0.0/8", "192.168.0.0/16", "a"];
const URLS = ["https://example.com:80/p?q=r", "http://example.org", "a"];
const TIMES = ["2020-01-02T03:04:05Z", "2030-01-02T03:04:05Z"];
const DURATIONS = ["1h", "90s", "1000h"];
const NUMBERS = ["1", "2", 1, 2];

/** The texts by the function that is called with them. */
export const TEXTS: ReadonlyMap<string, readonly Value[]> = new Map<string, readonly Value[]>([
  ["quantity", QUANTITIES],
  ["isQuantity", QUANTITIES],
  ["semver", VERSIONS],
  ["isSemver", VERSIONS],
  ["ip", ADDRESSES],
  ["isIP", ADDRESSES],
  ["containsIP", ADDRESSES],
  ["cidr", BLOCKS],
  ["isCIDR", BLOCKS],
  ["containsCIDR", BLOCKS],
  ["url", URLS],
  ["isURL", URLS],
  ["timestamp", TIMES],
  ["duration", DURATIONS],
  ["int", NUMBERS],
  ["uint", NUMBERS],
  ["double", NUMBERS],
  ["bool", ["true", "false"]],
  ["string", ["a", 1]],
]);

/** Texts that servers of different releases take differently, by the function: not a number; quantities of 19, 29 and more digits. */
export const UPGRADE_TEXTS: ReadonlyMap<string, readonly Value[]> = new Map<string, readonly Value[]>([
  ["double", ["NaN", "NaN", "Infinity", 0]],
  [
    "quantity",
    [
      "9223372036854775807",
      "-9223372036854775808",
      "1000000000000000000",
      "1234567890123456789012345678901",
      "1234567890123456789012345678902",
      "123456789012345678901234567890",
      "1n",
      "1E",
    ],
  ],
]);

/** Texts for which a method is true, and for which it is false. */
export function textsFor(method: string, argument: string): readonly string[] {
  switch (method) {
    case "startsWith":
      return [`${argument}z`, "z"];
    case "endsWith":
      return [`z${argument}`, "z"];
    case "matches":
    case "find":
      return [exampleOf(argument), `z${exampleOf(argument)}z`, "z", ""];
    default:
      return [`z${argument}z`, argument, "z"];
  }
}
