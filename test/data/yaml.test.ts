import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseSuspectYaml, parseYamlDocuments, readYamlDocument, YamlError } from "../../src/data/yaml.js";

test("several documents, empty ones left out", () => {
  assert.deepEqual(parseYamlDocuments("a: 1\n---\n---\nb: [x]\n"), [{ a: 1 }, { b: ["x"] }]);
});

// Expected values: what kubectl's own reader (sigs.k8s.io/yaml) makes of the same text.
describe("plain scalars of manifests read as kubectl reads them", () => {
  for (const [text, expected] of [
    ["1", 1],
    ["1.0", 1],
    ["1e3", 1000],
    ["0777", 511],
    ["1_000", 1000],
    ["1.5", 1.5],
    ["9007199254740993", 9007199254740993n],
    ["9223372036854775808", 2 ** 63],
    ["'1'", "1"],
    ["~", null],
    ["2024-01-01", "2024-01-01"],
    ["12:30", "12:30"],
  ] as const) {
    test(text, () => assert.deepEqual(parseYamlDocuments(`v: ${text}`), [{ v: expected }]));
  }
});

test("a number has a digit before its exponent, and one beside its dot", () => {
  assert.deepEqual(parseYamlDocuments("[e1, -E5, ., 1e3, .5e1, -.5]"), [["e1", "-E5", ".", 1000, 5, -0.5]]);
});

test("infinite numbers are refused, as JSON has none; what is beyond all doubles is a text", () => {
  for (const number of [".inf", "-.inf", ".nan"]) {
    assert.throws(() => parseYamlDocuments(`a: 1\nv: [${number}]`), {
      name: "YamlError",
      message: `JSON can't hold the number ${number}: use a string or a finite number at line 2 column 5`,
    });
  }
  const digits = "9".repeat(5_000);
  assert.deepEqual(parseYamlDocuments(`[1.0e+400, ${digits}]`), [["1.0e+400", digits]]);
});

test("manifests have YAML 1.1 booleans and merge keys", () => {
  const text = "base: &b {x: 1, z: 2}\nv: yes\nm: {<<: *b, z: 3}\n";
  assert.deepEqual(parseYamlDocuments(text), [{ base: { x: 1, z: 2 }, v: true, m: { z: 3, x: 1 } }]);
});

test("manifests have the numbers and merges that kubectl reads", () => {
  assert.deepEqual(parseYamlDocuments("[0o10, -0o1_7, 0XfF, 0B11, 0o8]"), [[8, -15, 255, 3, "0o8"]]);
  assert.deepEqual(parseYamlDocuments("[{k: 2, <<: [{k: 1}, {k: 3, l: 4}], z: 1}]"), [[{ k: 1, l: 4, z: 1 }]]);
});

test("of a key that stands twice the last one counts", () => {
  assert.deepEqual(parseYamlDocuments("a: 1\na: 2\n"), [{ a: 2 }]);
});

describe("hostile documents end in one error", () => {
  test("unknown alias", () => assert.throws(() => parseYamlDocuments("a: *x\n"), YamlError));
  test("alias bomb", () => {
    let text = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
    for (let i = 1; i < 9; i++)
      text += `a${i}: &a${i} [${Array(10)
        .fill(`*a${i - 1}`)
        .join(",")}]\n`;
    assert.throws(() => parseYamlDocuments(text), /aliases stand for too large a part of the document/);
  });
  test("deep nesting", () => assert.throws(() => parseYamlDocuments("[".repeat(2000) + "]".repeat(2000)), Error));
  test("__proto__ is a key", () => {
    const [value] = parseYamlDocuments("__proto__: {x: 1}\n");
    assert.deepEqual(Object.keys(value as object), ["__proto__"]);
  });
});

test("a reader sets how many values there may be, the document and keys among them", () => {
  assert.throws(() => parseYamlDocuments("[1, 2, 3]", { mostValues: 4 }), /more than 4 values/);
  assert.deepEqual(parseYamlDocuments("[1, 2]", { mostValues: 4 }), [[1, 2]]);
});

test("an alias stands for the last node of its name before it", () => {
  assert.deepEqual(parseYamlDocuments("[&a 1, *a, &a [&b 2], *a, *b]"), [[1, 1, [2], [2], 2]]);
  assert.throws(() => parseYamlDocuments("[*a, &a 1]"), /unknown alias \*a/);
});

test("a text that ends within a line has an end, whatever is open in it", () => {
  for (const text of ["[", "{", "[a", "- {", "[[{", '["a"', "{a", "? [", "- [a\n  b"])
    assert.throws(() => readYamlDocument(text), YamlError, text);
  for (const [text, value] of [
    ["[]", []],
    ["{a}", { a: null }],
    ["- a", ["a"]],
    ["a: &x", { a: null }],
  ] as const)
    assert.deepEqual(readYamlDocument(text)?.value, value);
});

test("what can't be meant is told, with its place", () => {
  const told: string[] = [];
  const values = parseSuspectYaml("a: 1\nb:\n  c: 1\n  c: 2\na: 3\n...\nd: 4\n", (doubt) => told.push(doubt.message));
  assert.deepEqual(values, [{ a: 3, b: { c: 2 } }]);
  assert.deepEqual(told, [
    "duplicate key: the same key stands above in this map at line 4 column 3",
    "duplicate key: the same key stands above in this map at line 5 column 1",
    "what stands here is not read: the document ends before it; put --- between documents at line 7 column 1",
  ]);
});
