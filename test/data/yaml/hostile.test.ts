import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readYamlStream } from "../../../src/data/yaml.js";

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
  for (const [name, text] of Object.entries(texts)) {
    test(name, () => {
      const start = process.cpuUsage();
      readYamlStream(text);
      const { user, system } = process.cpuUsage(start);
      assert.ok((user + system) / 1_000 < MOST_MILLISECONDS, `${(user + system) / 1_000} ms`);
    });
  }
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
