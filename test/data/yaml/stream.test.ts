/** The expectations are those of Kubernetes' decoder. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readYamlDocument, readYamlStream, readYamlTrees } from "../../../src/data/yaml.js";

/** The documents of a text, and `refused` where one can't be read. */
function read(text: string): unknown[] {
  const { documents, error } = readYamlStream(text);
  return [...documents.map(({ value }) => value), ...(error === undefined ? [] : ["refused"])];
}

describe("a text is cut into documents", () => {
  for (const [text, expected] of [
    ["a: 1\n---\n---\nb: 2\n---\n", [{ a: 1 }, { b: 2 }]],
    ["a: 1\n--- # comment\nb: 2", [{ a: 1 }, { b: 2 }]],
    ["# nothing\n---\nnull\n---\na: 1", [{ a: 1 }]],
    // A separator is one wherever it stands, and what is behind it an error of all documents before it that are not read yet.
    ["a: |\n  x\n---\n  z\n", [{ a: "x\n" }, "z"]],
    ["a: 1\n---\nb: 2\n--- c: 3\n", [{ a: 1 }, "refused"]],
    ["a: 1\n----\n", ["refused"]],
    // Each is read up to its own end.
    ["a: 1\n...\nb: [\n---\nc: 3\n", [{ a: 1 }, { c: 3 }]],
    ["[a]\nb\n", [["a"]]],
    ["[]: a\n", [[]]],
    ["a: 1\n---\nb: [\n---\nc: 3\n", [{ a: 1 }, "refused"]],
    // A CR of its own ends lines for YAML, not for the separator.
    ["a: 1\r---\rb: 2\r", [{ a: 1 }]],
    ["a: 1\r\n---\r\nb: 2\r\n", [{ a: 1 }, { b: 2 }]],
  ] as const) {
    test(JSON.stringify(text), () => assert.deepEqual(read(text), expected));
  }
});

describe("JSON may stand in place of YAML", () => {
  for (const [text, expected] of [
    ['{"a":1}{"b":2}\n"c" 4', [{ a: 1 }, { b: 2 }, "c", 4]],
    ['{"a":1}\n---\nb: 2\n', [{ a: 1 }, { b: 2 }]],
    ['{"a":1}\n{"b":2}\n---\nc: 3\n', [{ a: 1 }, { b: 2 }, "refused"]],
    ['{"a":1}\nb\n', [{ a: 1 }, "refused"]],
    ['{"a":1}\nbc: d\n', [{ a: 1 }, { bc: "d" }]],
    ["{a: 1}\n", [{ a: 1 }]],
    ['{"a": "\\/"}', [{ a: "/" }]],
    ['["\\/"]', ["refused"]],
    ['{"a": 1.}', [{ a: 1 }]],
    ['{"a":1} 1.e', [{ a: 1 }, "refused"]],
    // Only the beginning of a text is looked at for what it is.
    [`${"\n".repeat(4_095)}{"a":"\\/"}`, [{ a: "/" }]],
    [`${"\n".repeat(4_096)}{"a":"\\/"}`, ["refused"]],
  ] as const) {
    test(JSON.stringify(text).slice(-40), () => assert.deepEqual(read(text), expected));
  }

  test("whole doubles of JSON stay doubles", () => {
    const [document] = readYamlStream('{"a":[1.0,1,9007199254740993]}').documents;
    assert.deepEqual(document?.value, { a: [Object(1), 1, 9007199254740993n] });
  });
});

describe("errors", () => {
  for (const [text, line, column, reason] of [
    ["a: 1\nb: [1,\n", 2, 4, /^the \[ that stands here is not closed$/],
    ["a: 'x\n", 1, 4, /no end/],
    ["a:\n\tb: 1\n", 2, 1, /^a tab can't begin a value/],
    ["a: b: c\n", 1, 5, /^a colon can't stand here/],
    ["é😀: b: c\n", 1, 6, /^a colon/],
    ['a: 1\r\rb: "\\q"\r', 3, 5, /^the escape \\q stands for nothing: use single quotes, or write \\\\q$/],
    ["a: 1\r\nb: *x\r\n", 2, 4, /^unknown alias \*x/],
    ["a: &x [*x]\n", 1, 8, /^the value of &x contains itself$/],
    ["a: 1\nb\nc: 2\n", 2, 1, /^a key was expected here, but no colon follows it$/],
    ["a: \u0007\n", 1, 4, /^the control character U\+0007 is not allowed$/],
    ["%YAML 1.2\n---\na\n", 1, 1, /^Kubernetes reads YAML 1.1 only/],
    ["~: 1\n", 1, 1, /^~ can't be a key/],
    ["{a: [\n", 1, 2, /^key must be a string$/],
    ["a: 1\n--- b\n", 2, 4, /^behind ---/],
    ["a: !!int b\n", 1, 10, /^this is no !!int$/],
    ["a: .inf\n", 1, 4, /^JSON can't hold the number \.inf/],
  ] as const) {
    test(`${JSON.stringify(text)} has one at ${line}:${column}`, () => {
      const { error } = readYamlStream(text);
      assert.deepEqual([error?.line, error?.column], [line, column], error?.message);
      assert.match(error?.reason ?? "", reason);
    });
  }
});

describe("what Kubernetes takes without a word is told", () => {
  test("keys that stand twice, with their places, each once", () => {
    const [document] = readYamlStream("a: &x {b: 1, b: 2}\nc: *x\nd: {b: 3, <<: *x}\na: 4\n").documents;
    assert.deepEqual(document?.repeatedKeys, [
      { key: "b", offset: 13 },
      { key: "a", offset: 43 },
    ]);
    assert.deepEqual(document?.value, { a: 4, c: { b: 2 }, d: { b: 2 } });
  });

  test("keys that stand twice are told in the order of the text", () => {
    const offsets = (text: string) => readYamlStream(text).documents[0]?.repeatedKeys.map(({ offset }) => offset);
    assert.deepEqual(offsets("x: {a: 1}\nx: {b: 1, b: 2}\n"), [10, 20]);
    assert.deepEqual(offsets("<<: [{a: 1, a: 2}, {b: 1, b: 2}]\n"), [12, 26]);
  });

  test("keys that stand twice can be refused, in JSON too", () => {
    for (const text of ["a: 1\na: 2\n", '{"a":1,\n"a":2}']) {
      const { error } = readYamlStream(text, { uniqueKeys: true });
      assert.match(error?.message ?? "", /^the key a stands in this map already at line 2 column 1$/);
    }
  });

  test("what stands behind the end of a document", () => {
    const unread = (text: string): (number | undefined)[] => readYamlTrees(text).documents.map((each) => each.unread);
    assert.deepEqual(unread("a: 1\n... # c\n\nb: 2\n"), [14]);
    assert.deepEqual(unread("[a]\nb\n"), [4]);
    assert.deepEqual(unread("a: 1\n...\n# c\n...\n\n---\nb: 1\n"), [undefined, undefined]);
  });
});

test("one document alone is read from a text that is one buffer", () => {
  assert.deepEqual(readYamlDocument("a: |\n  x")?.value, { a: "x" });
  assert.deepEqual(readYamlDocument('{"a": 1}\n---\nb: [')?.value, { a: 1 });
  assert.equal(readYamlDocument("# nothing"), undefined);
  assert.throws(() => readYamlDocument('{"a": "\\/"}'), /stands for nothing/);
});

test("a value that JSON can't hold is no error where the same key comes again", () => {
  assert.deepEqual(read("a: .inf\na: 1\n"), [{ a: 1 }]);
  assert.deepEqual(read("a: {~: 1}\na: 1\n"), [{ a: 1 }]);
  assert.deepEqual(read("a: [[x]: 1]\na: 1\n"), ["refused"]);
});
