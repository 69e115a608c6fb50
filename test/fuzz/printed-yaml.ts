/**
 * YAML as the product prints it, of values made of all that YAML stumbles over: our own reader, which is Kubernetes', and the readers of YAML 1.1 and 1.2 of the
 * package yaml must read what was printed. With `YAML_ORACLE` (see `yaml.ts`), Kubernetes' own decoder must, too.
 */
import { spawnSync } from "node:child_process";
import { parse } from "yaml";
import { parseJson, stringifyJson } from "../../src/data/json.js";
import { inlineYaml, printGoYaml, printYaml, yamlName } from "../../src/data/print-yaml.js";
import { sameValue } from "../../src/data/same-value.js";
import { parseYamlDocuments } from "../../src/data/yaml.js";
import type { Fuzzer } from "./fuzzer.js";
import { pick, type Random, random } from "./random.js";

const BATCH = 2_000;
const MOST_FAULTS = 10;

/** Words, numbers and times of some reader, and what they are made of. */
const WORDS = [
  ..."y n Y N yes no on off Yes NO On oFF true TRUE false null Null NULL ~ = << .inf -.Inf +.INF .nan .NaN".split(" "),
  ..."0 -0 +1 007 0777 0o7 0O17 08 1_000 1__0 0x1F 0X_1 0b101 0b-1 -0B1_1 1e3 1E+3 -1.5e-3 1e400 .5 5. ._1 +.5 e5 1.2.3".split(
    " ",
  ),
  ..."1:30 190:20:30 -1:02.5 10:99 2001-12-14 2001-1-1 2001-12-14t21:59:43.10-05:00 2001-12-14T21:59:43Z".split(" "),
  ...[
    "2001-12-14 21:59:43.10 -5",
    "12345678901234567890",
    "0.1",
    "100Mi",
    "v1",
    "web",
    "a b",
    "a: b",
    "a #b",
    "x:",
    "a-",
  ],
  ..."- ? : -- --- ... --x ? , [ ] { } # & * ! | > ' \" % @ ` \\ !!str &a *a {a} [a] ?a -a :a a: 'a' \"a\" a\"b a'b".split(
    " ",
  ),
];
/** Characters, alone and in pairs that belong together. */
const CHARACTERS = [
  ...Array.from({ length: 0x21 }, (_, code) => String.fromCharCode(code)),
  ...Array.from({ length: 0x22 }, (_, code) => String.fromCharCode(0x7f + code)),
  ..."\u00ad\u061c\u200b\u200d\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069\ud7ff\ue000\ufdd0\ufeff\ufffd\ufffe\uffff",
  ...[
    "\ud800",
    "\udfff",
    "😀",
    "\u{10ffff}",
    "\u{1fffe}",
    "\r\n",
    "\n\n",
    "\n ",
    " \n",
    "\n\t",
    "\t\n",
    "\n- ",
    "\n---\n",
    "\n#",
  ],
  ...["a", "é", "過", "é"],
];
/** About as long as keys may be before their colons, and as lines are. */
const LENGTHS = [79, 80, 127, 128, 129, 160, 161, 999, 1_000, 1_001, 1_023, 1_025, 5_000];
const NUMBERS = [0, -1, 1.5, 1e21, -1e-7, 5e-324, 1.7976931348623157e308, 2 ** 53 - 1, 9007199254740993n, -(2n ** 63n)];

function text(next: Random): string {
  switch (next(8)) {
    case 0:
    case 1:
      return pick(next, WORDS);
    case 2:
      return `${pick(next, CHARACTERS)}${pick(next, WORDS)}${pick(next, CHARACTERS)}`;
    case 3:
      return `${pick(next, WORDS)}${pick(next, [" ", ":", "_", "-", ""])}${pick(next, WORDS)}`;
    case 4:
      return pick(next, CHARACTERS).repeat(Math.ceil(pick(next, LENGTHS) / (next(2) + 1)));
    case 5:
      return Array.from({ length: next(60) }, () => `${pick(next, WORDS)}${pick(next, [" ", "  ", "\n", ""])}`).join(
        "",
      );
    default:
      return Array.from({ length: next(12) }, () => pick(next, CHARACTERS)).join("");
  }
}

function value(next: Random, depth: number): unknown {
  const kind = next(depth === 0 ? 7 : 12);
  if (kind < 4) return text(next);
  if (kind === 4) return pick(next, NUMBERS);
  if (kind === 5) return pick(next, [true, false, null]);
  if (kind === 6) return pick(next, [[], {}, [[]], [{}], [[[""]]]]);
  if (kind < 9) return Array.from({ length: next(4) }, () => value(next, depth - 1));
  const map: Record<string, unknown> = {};
  for (let left = next(4); left > 0; left -= 1)
    Object.defineProperty(map, next(50) === 0 ? "__proto__" : text(next).toWellFormed(), {
      value: value(next, depth - 1),
      enumerable: true,
      configurable: true,
    });
  // The same object in two places.
  return next(8) === 0 ? { ...map, first: map, second: map } : map;
}

/** What was found: what a reader reads in place of what was printed. */
export interface Misread {
  readonly cases: number;
  readonly faults: readonly string[];
}

/** Tries for so many seconds, or cases. */
export function run(
  seconds: number,
  seed: number,
  most = Number.POSITIVE_INFINITY,
  oracle = process.env.YAML_ORACLE,
): Misread {
  const next = random(seed);
  const faults: string[] = [];
  let cases = 0;
  const end = performance.now() + seconds * 1_000;
  while (performance.now() < end && cases < most && faults.length < MOST_FAULTS) {
    const batch = Array.from({ length: Math.min(BATCH, most - cases) }, () => {
      const { meant, text } = document(next);
      return { meant: wellFormed(meant), text };
    });
    cases += batch.length;
    for (const { meant, text } of batch) {
      for (const [reader, read] of READERS) {
        const found = attempt(() => read(text));
        if (!sameValue(found, meant))
          faults.push(`${reader} reads ${shown(found)} for ${shown(meant)}: ${JSON.stringify(text)}`);
      }
      if (/(?!\n|\t)[\p{Cc}\p{Bidi_Control}\p{Cs}\u2028\u2029\ufeff]/u.test(text))
        faults.push(`for terminals: ${JSON.stringify(text)}`);
    }
    if (oracle !== undefined) ask(oracle, batch, faults);
  }
  return { cases, faults };
}

interface Printed {
  readonly meant: unknown;
  readonly text: string;
}

function document(next: Random): Printed {
  const made = value(next, 3);
  const meant = { "": made, list: [made] };
  switch (next(4)) {
    case 0:
      return { meant, text: printGoYaml(meant) };
    case 1: {
      // As it stands in what is written by hand: names and texts between words of others.
      const entries = Array.from({ length: 3 }, () => [text(next).toWellFormed(), text(next)] as const);
      const lines = entries.map(
        ([name, item]) => `${yamlName(name)}: { in: ${inlineYaml(item)}, as: ${inlineYaml([item])} }\n`,
      );
      const isOdd =
        new Set(entries.map(([name]) => name)).size < entries.length || entries.some(([name]) => name.length > 160);
      return isOdd
        ? document(next)
        : {
            meant: Object.fromEntries(entries.map(([name, item]) => [name, { in: item, as: [item] }])),
            text: lines.join(""),
          };
    }
    default:
      return { meant, text: printYaml(meant) };
  }
}

/** What reads it, and what it makes of it. */
const READERS: readonly (readonly [name: string, read: (text: string) => unknown])[] = [
  ["Kubernetes", (text) => only(parseYamlDocuments(text))],
  ["YAML 1.2", (text) => parse(text, { intAsBigInt: true, maxAliasCount: 0 }) as unknown],
  ["YAML 1.1", (text) => parse(text, { version: "1.1", intAsBigInt: true, maxAliasCount: 0 }) as unknown],
];

const only = (documents: readonly unknown[]): unknown => (documents.length === 1 ? documents[0] : documents);

/** Halves of characters are replaced where a text is printed. */
function wellFormed(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, wellFormed(item)]));
}

function attempt(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return String(error);
  }
}

const shown = (value: unknown): string => stringifyJson(value).slice(0, 400);

function ask(oracle: string, batch: readonly Printed[], faults: string[]): void {
  const input = batch.map(({ text }, index) => `${JSON.stringify({ id: String(index), text })}\n`).join("");
  const { stdout, error } = spawnSync(oracle, { input, maxBuffer: 2 ** 30 });
  if (error !== undefined) throw error;
  const answers = stdout.toString("utf8").trimEnd().split("\n");
  if (answers.length !== batch.length) throw new Error(`${answers.length} answers to ${batch.length} texts`);
  for (const [index, { meant, text }] of batch.entries()) {
    const { docs, error: refusal } = parseJson(answers[index] ?? "") as {
      docs: readonly unknown[] | null;
      error?: string;
    };
    if (refusal || !sameValue(only(docs ?? []), meant))
      faults.push(`the oracle reads ${refusal || shown(docs)} for ${JSON.stringify(text)}`);
  }
}

/** `npm run fuzz -- printed-yaml`. */
export const printedYamlFuzzer: Fuzzer = {
  name: "printed-yaml",
  run: (milliseconds, seed) => {
    const { cases, faults } = run(milliseconds / 1_000, seed);
    console.log(`${cases} documents were printed and read back`);
    return faults;
  },
};
