import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseYamlDocuments, YamlError } from "../../src/data/yaml.js";

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

test("our own files keep whole doubles as doubles", () => {
  assert.deepEqual(parseYamlDocuments("v: 1.0", "core"), [{ v: Object(1) }]);
});

test("infinite numbers are refused, as JSON has none", () => {
  for (const number of [".inf", "-.inf", ".nan", "1.0e+400", "9".repeat(5_000)]) {
    assert.throws(() => parseYamlDocuments(`a: 1\nv: [${number}]`), {
      name: "YamlError",
      message: "a number that JSON can't hold: use a string or a finite number at line 2 column 5",
    });
  }
});

test("manifests have YAML 1.1 booleans and merge keys, our own files have not", () => {
  const text = "base: &b {x: 1, z: 2}\nv: yes\nm: {<<: *b, z: 3}\n";
  assert.deepEqual(parseYamlDocuments(text), [{ base: { x: 1, z: 2 }, v: true, m: { z: 3, x: 1 } }]);
  assert.deepEqual(parseYamlDocuments(text, "core"), [
    { base: { x: 1, z: 2 }, v: "yes", m: { "<<": { x: 1, z: 2 }, z: 3 } },
  ]);
});

test("manifests have the numbers and merges that kubectl reads", () => {
  assert.deepEqual(parseYamlDocuments("[0o10, -0o1_7, 0XfF, 0B11, 0o8]"), [[8, -15, 255, 3, "0o8"]]);
  assert.deepEqual(parseYamlDocuments("{k: 2, <<: [{k: 1}, {k: 3, l: 4}], z: 1}"), [{ k: 1, l: 4, z: 1 }]);
  assert.deepEqual(parseYamlDocuments("[0o10, 0XfF]", "core"), [[8, "0XfF"]]);
});

describe("hostile documents end in one error", () => {
  test("duplicate key", () => assert.throws(() => parseYamlDocuments("a: 1\na: 2\n"), YamlError));
  test("unknown alias", () => assert.throws(() => parseYamlDocuments("a: *x\n"), YamlError));
  test("alias bomb", () => {
    let text = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
    for (let i = 1; i < 9; i++)
      text += `a${i}: &a${i} [${Array(10)
        .fill(`*a${i - 1}`)
        .join(",")}]\n`;
    assert.throws(() => parseYamlDocuments(text), /more than 1000000 values/);
  });
  test("deep nesting", () => assert.throws(() => parseYamlDocuments("[".repeat(2000) + "]".repeat(2000)), Error));
  test("__proto__ is a key", () => {
    const [value] = parseYamlDocuments("__proto__: {x: 1}\n");
    assert.deepEqual(Object.keys(value as object), ["__proto__"]);
  });
});

describe("a reader who reads loosely", () => {
  test("lets a key stand twice, the last one counting", () => {
    assert.deepEqual(parseYamlDocuments("a: 1\na: 2\n", "kubernetes", { repeatedKeys: true }), [{ a: 2 }]);
    assert.throws(() => parseYamlDocuments("a: 1\na: 2\n"), YamlError);
  });

  test("sets how many values there may be", () => {
    assert.throws(() => parseYamlDocuments("[1, 2, 3]", "kubernetes", { mostValues: 3 }), /more than 3 values/);
    assert.deepEqual(parseYamlDocuments("[1, 2]", "kubernetes", { mostValues: 3 }), [[1, 2]]);
  });
});

test("an alias stands for the last node of its name before it", () => {
  assert.deepEqual(parseYamlDocuments("[&a 1, *a, &a [&b 2], *a, *b]"), [[1, 1, [2], [2], 2]]);
  assert.throws(() => parseYamlDocuments("[*a, &a 1]"), /unknown alias a/i);
});
