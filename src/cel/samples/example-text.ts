/** A text that a pattern matches, as far as that is easily told: the first alternative of each group, the fewest repetitions. */

const CLASSES: Readonly<Record<string, string>> = { d: "1", w: "a", s: " ", D: "a", W: "-", S: "a" };

/** Longer patterns have no example: groups are read by functions that call each other. */
const MOST_CHARACTERS = 500;

/** The text; one that does not match does no harm: it is one sample of many. */
export function exampleOf(pattern: string): string {
  return pattern.length > MOST_CHARACTERS ? "" : alternatives({ rest: pattern.replace(/^\(\?[a-zA-Z]+\)/, "") });
}

interface Reader {
  rest: string;
}

/** Reads up to the end of a group; what follows `|` is read, and left out. */
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

/** What stands for a character behind a backslash; places such as `\b` are no characters. */
function escaped(character: string): string {
  return /[bBAz]/.test(character) ? "" : (CLASSES[character] ?? character);
}
