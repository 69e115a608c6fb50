import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Problem } from "../../../src/config/documents/problem.js";
import { parseConfiguration, parseResources } from "../../../src/config/documents/source-document.js";

const TEXT = `# a comment
plain: object.a
  && object.b
single: 'it''s' # it's
double: "a\\tb \\u00e9c \\"d\\"
  e"
literal: |
  first
    && second

  third
folded: >-
    one
    two

    three
list:
  - x: {z: 1}
anchored: &a [1, 2]
alias: *a
emoji: "😀x"
`;

const { document } = parseConfiguration(TEXT, "f.yaml");
const lines = TEXT.split("\n");

/** The text of the file from the position of a place inside the scalar at `path`. */
function textAt(path: (string | number)[], value: string, needle: string): string {
  const offset = value.indexOf(needle);
  const before = value.slice(0, offset).split("\n");
  const inner = { line: before.length, column: [...before.at(-1)!].length + 1 };
  const { file, line, column } = document!.positionOf(path, inner);
  assert.equal(file, "f.yaml");
  return [...lines[line - 1]!].slice(column - 1).join("");
}

describe("positions", () => {
  test("a value stands where it begins, a key where its name does", () => {
    assert.deepEqual(document?.positionOf(["list", 0, "x", "z"]), { file: "f.yaml", line: 18, column: 12 });
    assert.deepEqual(document?.keyPositionOf(["list", 0, "x"]), { file: "f.yaml", line: 18, column: 5 });
  });

  test("a path that leads nowhere gives the deepest value on the way", () => {
    assert.deepEqual(document?.positionOf(["list", 0, "nope", 3]), { file: "f.yaml", line: 18, column: 5 });
  });

  test("an alias stands where its anchor's value does", () => {
    assert.deepEqual(document?.positionOf(["alias", 1]), { file: "f.yaml", line: 19, column: 18 });
  });

  test("places inside scalars of every style are found in the file", () => {
    const value = document!.value as Record<string, string>;
    assert.equal(value.plain, "object.a && object.b");
    assert.equal(textAt(["plain"], value.plain, "object.b"), "object.b");
    assert.equal(value.single, "it's");
    assert.equal(textAt(["single"], value.single, "s"), "s' # it's");
    assert.equal(value.double, 'a\tb éc "d" e');
    assert.equal(textAt(["double"], value.double, "c"), 'c \\"d\\"');
    assert.equal(textAt(["double"], value.double, 'd"'), 'd\\"');
    assert.equal(textAt(["double"], value.double, "e"), 'e"');
    assert.equal(textAt(["literal"], value.literal!, "first"), "first");
    assert.equal(textAt(["literal"], value.literal!, "second"), "second");
    assert.equal(textAt(["literal"], value.literal!, "third"), "third");
    assert.equal(value.folded, "one two\nthree");
    assert.equal(textAt(["folded"], value.folded, "two"), "two");
    assert.equal(textAt(["folded"], value.folded, "three"), "three");
    assert.equal(textAt(["emoji"], value.emoji!, "x"), 'x"');
  });

  test("a place past the end is the end", () => {
    assert.deepEqual(document?.positionOf(["literal"], { line: 99, column: 99 }), {
      file: "f.yaml",
      line: 11,
      column: 8,
    });
  });

  test("each document of a file of resources knows its lines", () => {
    const { documents } = parseResources("kind: A\n---\nkind: B\nspec: {x: yes}\n", "r.yaml");
    assert.deepEqual(
      documents.map(({ value }) => value),
      [{ kind: "A" }, { kind: "B", spec: { x: true } }],
    );
    assert.deepEqual(documents[1]?.positionOf(["spec", "x"]), { file: "r.yaml", line: 4, column: 11 });
  });

  test("a file whose lines end with CR has as many lines as an editor shows", () => {
    const { documents } = parseResources("a: |\r  x\r  y\rb: {c: d}\r", "r.yaml");
    assert.deepEqual(documents[0]?.positionOf(["a"], { line: 2, column: 1 }), { file: "r.yaml", line: 3, column: 3 });
    assert.deepEqual(documents[0]?.positionOf(["b", "c"]), { file: "r.yaml", line: 4, column: 8 });
  });

  for (const [name, text, path, inner, line, column] of [
    ["a quoted text that goes on at its key's column", '- e: "a ||\n  b"\n', [0, "e"], [1, 6], 2, 3],
    ["a quoted text that goes on in the first column", '- e: "a ||\nb"\n', [0, "e"], [1, 6], 2, 1],
    ["a plain text over lines with CR LF", "e: a ||\r\n  b\r\n", ["e"], [1, 6], 2, 3],
    ["a text behind an anchor and a tag", "e: &x !!str a b\n", ["e"], [1, 3], 1, 15],
    ["a list that goes on in the first column", "e: [a,\nb]\n", ["e", 1], undefined, 2, 1],
    ["what is indented by tabs in brackets", "e: [\n\ta]\n", ["e", 0], undefined, 2, 2],
    ["a comment right behind a quote", 'e: "a"# c\nf: b\n', ["f"], undefined, 2, 4],
    ["JSON", '{"e": "\\ud83d\\ude00 \\/ b",\n "f": 1}', ["e"], [1, 5], 1, 24],
    ["JSON behind JSON", '{"e": 1}\n{"f": "a"}', ["f"], undefined, 2, 7],
    ["a mark of UTF-8, which editors do not show", "\ufeffe: a b\n", ["e"], [1, 3], 1, 6],
    ["a quoted text over lines with NEL", 'e: "a\x85b ||\x85 c"\n', ["e"], [1, 8], 1, 13],
    ["a plain text over lines with NEL", "e: a\x85 b ||\x85 c\n", ["e"], [1, 8], 1, 13],
    ["a quoted text over lines with LS and PS", "e: 'a\u2028b ||\u2029 c'\n", ["e"], [1, 8], 1, 13],
    ["escapes of NEL, LS and PS", 'e: "a\\N\\L\\P\\x85\\u2028 b"\n', ["e"], [1, 8], 1, 23],
    ["an escaped CR", 'e: "a\\\rb"\n', ["e"], [1, 2], 2, 1],
    ["an escaped CR LF", 'e: "a\\\r\n b"\n', ["e"], [1, 2], 2, 2],
    ["lines of a block that end with NEL", "e: |\x85 a\x85 b\n", ["e"], [2, 1], 1, 10],
    ["a value that is not written", "e:\nf: 1\n", ["e"], undefined, 1, 3],
    ["what is merged", "a: &x {b: c}\ne:\n  <<: *x\n", ["e", "b"], undefined, 1, 11],
  ] as const) {
    test(`${name} has right places`, () => {
      const { documents, problems } = parseResources(text, "r.yaml");
      assert.deepEqual(problems, []);
      const place = inner === undefined ? undefined : { line: inner[0], column: inner[1] };
      assert.deepEqual(documents.at(-1)?.positionOf(path, place), { file: "r.yaml", line, column });
    });
  }

  test("what Kubernetes takes though it can't be meant is a warning at its place", () => {
    const { documents, warnings } = parseResources("a: {b: 1,\n  b: 2}\n...\nc: 3\n", "r.yaml");
    assert.deepEqual(documents[0]?.value, { a: { b: 2 } });
    assert.deepEqual(
      warnings.map(({ line, column, path, severity }) => [line, column, path, severity]),
      [
        [2, 3, ["a", "b"], "warning"],
        [4, 1, [], "warning"],
      ],
    );
  });

  describe("a merge key that replaces what its map has above", () => {
    const told = (problems: readonly Problem[]) =>
      problems.map(({ line, column, path, severity }) => [line, column, path.join("."), severity]);
    const text = "d: &d {a: 1, b: 1}\np:\n  a: 2\n  c: 2\n  <<: *d\nq: {<<: *d, a: 2}\nr: {<<: *d, <<: {e: 1}}\n";
    const value = { a: 1, b: 1, c: 2 };

    test("is an error in configuration, and a second one, too", () => {
      const { problems } = parseConfiguration(text, "c.yaml");
      assert.deepEqual(told(problems), [
        [5, 3, "p.a", "error"],
        [7, 13, "r.<<", "error"],
      ]);
    });

    test("is a warning in resources, which are what Kubernetes says", () => {
      const { documents, warnings, problems } = parseResources(text, "r.yaml");
      assert.deepEqual(problems, []);
      assert.deepEqual(documents[0]?.value, {
        d: { a: 1, b: 1 },
        p: value,
        q: { a: 2, b: 1 },
        r: { a: 1, b: 1, e: 1 },
      });
      assert.deepEqual(told(warnings), [
        [5, 3, "p.a", "warning"],
        [7, 13, "r.<<", "warning"],
      ]);
    });

    test("is found at the top, in merged maps, and told once", () => {
      const { problems } = parseConfiguration("x: &x {p: 1}\np: 2\n<<: *x\n", "c.yaml");
      assert.deepEqual(told(problems), [[3, 1, "p", "error"]]);
      const { problems: inner } = parseConfiguration(
        "x: &x {a: 1}\nv: &v {<<: {a: 2, <<: *x}}\nz: [*v, *v]\n",
        "c.yaml",
      );
      assert.deepEqual(told(inner), [[2, 19, "v.a", "error"]]);
    });
  });

  test("resources whose aliases stand for too many values are no documents", () => {
    const list = `&a [${"1,".repeat(1_500)}]`;
    const text = `big: ${list}\nlists: [${"*a,".repeat(75)}]\ndenied: [evil]\n`;
    const { documents, problems } = parseResources(text, "r.yaml");
    assert.deepEqual(documents, []);
    assert.deepEqual(
      problems.map(({ severity, message }) => [severity, message]),
      [["error", "aliases that stand for more than 100000 values"]],
    );
  });
});
