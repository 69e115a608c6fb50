/** Files of YAML that are broken, or changed, in every way that a reader may take for something else. */
import { pick, type Random } from "./random.js";

/** Pieces that mean something to a reader of YAML, or look as if they did. */
const PIECES = [
  ..."-?:,[]{}#&*!|>'\"%@`~=<._0123456789eExXoObn+ \t\n\r\\/",
  ...["\n", "\n\n", "\r\n", "\r", "\r\r\n", "\u0085", "\u2028", "\u2029", "\u00a0", "😀", "é", "\u0007", "\ufffd"],
  ...[
    "- ",
    "? ",
    ": ",
    " #",
    "--- ",
    "---",
    "\n---\n",
    "\n...\n",
    "...",
    "\n--- # x\n",
    "\n---x\n",
    "%YAML 1.1\n",
    "%TAG ! x:\n",
    "\n%",
  ],
  ...["|", "|-", "|+", ">", ">-", ">+", "|2", "|1-", ">2\n", "|0", "|\n\n", "|\n\t", ">\n  a\n   b\n  c\n"],
  ...[
    "&a ",
    "*a",
    "&b x",
    "*b ",
    "<<: *a\n",
    "<<: [*a, *b]",
    "<<: {a: 1}",
    "<<",
    "!!str ",
    "!!int ",
    "!!float ",
    "!!binary aGk=",
    "!!bool ",
    "!!null ",
    "! ",
    "!x ",
    "!<y> ",
    "!!timestamp ",
    "!a!b ",
  ],
  ...[
    "''",
    '""',
    "'",
    '"',
    "\\n",
    "\\x41",
    "\\u00e9",
    "\\ud83d",
    "\\U0001F600",
    "\\/",
    "\\\n",
    "'a\n b'",
    '"a\nb"',
    '"a"# c',
    "a: b: c",
    "{a}",
    "[a: b]",
    "[? a]",
    "{? a : b}",
    "{a:1}",
    "[a,]",
    "{,}",
    "{a: }",
    '{"a":1}',
    '["x",\n"y"]',
  ],
  ...[
    "yes",
    "No",
    "on",
    "~",
    "null",
    "Null",
    ".inf",
    "-.Inf",
    ".nan",
    "0o17",
    "0X1F",
    "0b11",
    "-0b1",
    "0b-1",
    "017",
    "08",
    "1_000",
    "._1",
    ".1_5",
    "-_1",
    "1e400",
    "1e3",
    "1.0",
    "-0",
    "-0.0",
    "18446744073709551615",
    "18446744073709551616",
    "9223372036854775808",
    "9007199254740993",
    "0x8000000000000000",
    "123456789.5",
    "1e-7",
    ".e5",
    "+.",
    "2001-01-01",
    "1:30",
    "__proto__",
    "constructor",
  ],
] as const;
/** Lines of a file that are kept: a reader makes no other mistakes in longer ones. */
const MOST_LINES = 60;
const MOST_CHANGES = 4;

type Change = (text: string, random: Random, other: string) => string;

const CHANGES: readonly Change[] = [
  (text, random) => spliced(text, random, 0, pick(random, PIECES)),
  (text, random) => spliced(text, random, 0, pick(random, PIECES) + pick(random, PIECES)),
  (text, random) => spliced(text, random, 1, ""),
  (text, random) => spliced(text, random, 1, pick(random, PIECES)),
  (text, random) => spliced(text, random, 1 + random(12), pick(random, PIECES)),
  (text, random) => changedLines(text, random, (line) => [" ".repeat(random(4)) + line]),
  (text, random) => changedLines(text, random, (line) => [line.slice(random(4))]),
  (text, random) => changedLines(text, random, () => []),
  (text, random) => changedLines(text, random, (line) => [line, line]),
  (text, random) => changedLines(text, random, (line) => [line + pick(random, PIECES)]),
  (text, random) =>
    changedLines(text, random, (line) => [
      line.replace(/(:\s+|-\s+)\S.*$/, (_, mark: string) => mark + pick(random, PIECES)),
    ]),
  (text, random) => changedLines(text, random, (line) => [line.replace(/\S+:/, () => `${pick(random, PIECES)}:`)]),
  (text, random) => changedLines(text, random, (line) => [line.replace(/\S.*$/, (rest) => `"${rest}"`)]),
  (text, random) =>
    changedLines(text, random, (line) => [line.replace(/ /, () => pick(random, ["\n", "\t", "  ", "\n\n"]))]),
  (text, random, other) => changedLines(text, random, (line) => [line, pick(random, other.split("\n"))]),
  (text, random) => text.slice(0, random(text.length + 1)),
  (text) => text.replaceAll("\n", "\r\n"),
  (text) => text.replaceAll("\n", "\r"),
  (text, random, other) => `${text}${pick(random, ["---\n", "\n", "\n---\n", "...\n", ""])}${other}`,
];

/** A file made of one or two others. */
export function mutated(random: Random, seeds: readonly string[]): string {
  let text = excerpt(pick(random, seeds), random);
  for (let i = random(MOST_CHANGES) + 1; i > 0; i--) {
    text = pick(random, CHANGES)(text, random, excerpt(pick(random, seeds), random));
  }
  return text;
}

/** Some lines of a file, in half of the cases from its beginning. */
function excerpt(text: string, random: Random): string {
  const lines = text.split(/(?<=\n)/);
  if (lines.length <= MOST_LINES) return text;
  const from = random(2) * random(lines.length - MOST_LINES);
  return lines.slice(from, from + 1 + random(MOST_LINES)).join("");
}

function spliced(text: string, random: Random, removed: number, inserted: string): string {
  const at = random(text.length + 1);
  return text.slice(0, at) + inserted + text.slice(at + removed);
}

function changedLines(text: string, random: Random, change: (line: string) => readonly string[]): string {
  const lines = text.split("\n");
  const at = random(lines.length);
  return lines.flatMap((line, index) => (index === at ? change(line) : [line])).join("\n");
}
