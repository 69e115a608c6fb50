import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseConfiguration, parseResources } from "../../../src/config/documents/source-document.js";
import { Lines } from "../../../src/data/yaml/lines.js";
import { placeOf } from "../../../src/data/yaml/yaml-error.js";
import { parseSuspectYaml, readYamlStream, YamlError } from "../../../src/data/yaml.js";

const LENGTH = 200_000;
const filled = (piece: string): string => piece.repeat(Math.ceil(LENGTH / piece.length));
/** Reading takes up to half of a microsecond for a character; what takes the square of the length is far beyond. */
const MOST_MILLISECONDS = 3_000;

describe("hostile texts are read or refused in time that grows with their length", () => {
  const flowKeys = `x: [${filled(`${"[".repeat(300)}${"]".repeat(300)},`)}]`;
  const anchors = Array.from({ length: 15_000 }, (_, i) => `- &a${i} v\n- *a${i}\n`).join("");
  const texts: Record<string, string> = {
    "brackets that open": filled("["),
    "braces that open": `x: ${filled("{")}`,
    "question marks": filled("? "),
    "dashes in one line": filled("- "),
    "dashes in lines": filled("-\n"),
    "deep lists, one after the other": flowKeys,
    "keys in one line": `x: {${filled("a: b, ")}}`,
    "the same key": filled("a: b\n"),
    "the same key in one line": `{${filled("k: 1, ")}}`,
    "the same key in one line of wide characters": `{${filled("k: 😀, ")}}`,
    "the same key of JSON": `{${filled('"k": 1, ')}"k": 1}`,
    "keys that are numbers in one line, followed again and again": `x: &a {${filled("1: 1, ")}}\ny: [*a, *a, *a]`,
    "nested keys": `x: ${filled("[")}a${filled("]: 1")}`,
    "a long word": filled("a"),
    "words in lines": filled("a\n"),
    "blanks in quotes": `"${filled(" a")}`,
    "lines in quotes": `"${filled("a\n")}"`,
    escapes: `"${filled("\\n")}"`,
    "empty lines of a block": `a: |\n${filled("\n")}`,
    "lines of a block": `a: >\n${filled("  x\n")}`,
    anchors,
    "anchors of one node": filled("&a "),
    "aliases as keys": `x: &a b\n${filled("*a : c\n")}`,
    merges: `a: &a {b: 1}\n${filled("<<: *a\n")}`,
    digits: `a: 0x${filled("f")}`,
    "digits of a decimal number": `a: ${filled("1")}`,
    zeros: `a: ${filled("0")}`,
    underscores: `a: 1${filled("_")}`,
    comments: filled("#\n"),
    documents: filled("---\n"),
    "documents that end": `a\n${filled("...\n#\n")}`,
    "forbidden characters behind documents": filled(`a\n...\n${"#".repeat(600)}\u0007\n---\n`),
    "JSON documents": filled("{} "),
    "JSON that opens": filled('{"a":'),
    "backslashes in JSON": `{"a":"${filled("\\\\")}`,
  };
  const readers: Record<string, (text: string) => void> = {
    documents: (text) => readYamlStream(text),
    "documents with their doubts": (text) => refusedOr(() => parseSuspectYaml(text, () => {})),
    resources: (text) => parseResources(text, "r.yaml"),
    configuration: (text) => parseConfiguration(text, "c.yaml"),
  };
  for (const [name, text] of Object.entries(texts)) {
    for (const [form, read] of Object.entries(readers)) {
      test(`${name}, as ${form}`, () => {
        const start = process.cpuUsage();
        read(text);
        const { user, system } = process.cpuUsage(start);
        assert.ok((user + system) / 1_000 < MOST_MILLISECONDS, `${(user + system) / 1_000} ms`);
      });
    }
  }
});

function refusedOr(read: () => void): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
  }
}

test("a file with very many doubts tells the first, and how many more there are", () => {
  const text = "k: 1\n".repeat(1_001);
  const told: string[] = [];
  parseSuspectYaml(text, (doubt) => told.push(doubt.message));
  const { warnings } = parseResources(text, "r.yaml");
  assert.equal(told.length, 101);
  assert.equal(warnings.length, 101);
  assert.equal(told.at(-1), "900 more such warnings from here on are not shown at line 102 column 1");
  assert.deepEqual([warnings.at(-1)?.line, warnings.at(-1)?.message], [102, told.at(-1)?.replace(/ at line .*/, "")]);
});

test("places are found in any order, in long lines and with characters of two units", () => {
  const text = `${"a😀".repeat(1_000)}\r\n\r${"é😀b".repeat(500)}\nc`;
  const lines = new Lines(text);
  for (let offset = text.length; offset >= 0; offset -= 7) {
    assert.deepEqual(lines.place(offset), placeOf(text, offset));
  }
});

test("characters of two units take no longer than others where they may be long keys", () => {
  const text = (character: string, count: number): string => `[${filled(`[${`${character},`.repeat(count)}],\n`)}]`;
  const spent = (text: string): number => {
    const start = process.cpuUsage();
    for (let i = 0; i < 3; i++) readYamlStream(text);
    return process.cpuUsage(start).user;
  };
  const [one, two] = [text("é", 1_000), text("😀", 680)];
  spent(one);
  // Counted anew for each, they take twenty times as long.
  assert.ok(spent(two) < 6 * spent(one));
});

test("nesting has an end, in aliases too", () => {
  const deepest = (text: string): string => readYamlStream(text).error?.message ?? "";
  assert.equal(deepest(`a: ${"[".repeat(500)}${"]".repeat(500)}`), "");
  assert.match(deepest(`a: ${"[".repeat(501)}${"]".repeat(501)}`), /^nested deeper than 500 levels/);
  assert.match(deepest("- ".repeat(502)), /^nested deeper than 500 levels/);
  const chain = Array.from({ length: 60 }, (_, i) => `- &a${i + 1} ${"[".repeat(9)}*a${i}${"]".repeat(9)}\n`);
  assert.match(deepest(`- &a0 x\n${chain.join("")}`), /^nested deeper than 500 levels/);
});

test("keys of Object.prototype are keys like any other", () => {
  const [document] = readYamlStream("__proto__: {x: 1}\nconstructor: 1\n").documents;
  assert.deepEqual(Object.entries(document?.value as object), [
    ["__proto__", { x: 1 }],
    ["constructor", 1],
  ]);
  assert.deepEqual(readYamlStream("__proto__: 1\n").documents[0]?.repeatedKeys, []);
});
