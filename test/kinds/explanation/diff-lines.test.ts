/** The difference of two values as lines of YAML. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { MAX_DIFF_LINES } from "../../../src/kinds/explanation/diff-lines.js";
import { type DiffLine, diffLines, withGaps } from "../../../src/kinds/explanation/index.js";

const SIGNS = { same: " ", removed: "-", added: "+" } as const;
const written = (lines: readonly (DiffLine | undefined)[]): readonly string[] =>
  lines.map((line) => (line === undefined ? "…" : SIGNS[line.kind] + line.text));

test("what is removed stands before what is added in its place, and all else once", () => {
  const before = { kind: "Pod", spec: { containers: [{ name: "a", image: "x" }, { name: "b" }] } };
  const after = { kind: "Pod", spec: { containers: [{ name: "a", image: "y", tty: true }, { name: "b" }] } };
  assert.deepEqual(written(diffLines(before, after)), [
    " kind: Pod",
    " spec:",
    "   containers:",
    "     - name: a",
    "-      image: x",
    '+      image: "y"',
    "+      tty: true",
    "     - name: b",
  ]);
});

test("keys in another order are no change, also of what moves within a list", () => {
  const before = {
    kind: "Pod",
    spec: {
      containers: [
        { name: "a", image: "x" },
        { image: "y", name: "b" },
      ],
    },
  };
  const after = {
    spec: {
      containers: [
        { image: "z", name: "new" },
        { image: "x", name: "a" },
        { name: "b", image: "y" },
      ],
    },
    ["__proto__"]: { constructor: 1 },
    kind: "Pod",
  };
  assert.deepEqual(
    written(diffLines(before, after)).filter((line) => !line.startsWith(" ")),
    ["+    - name: new", "+      image: z", "+__proto__:", "+  constructor: 1"],
  );
  const deep = (levels: number) => JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`) as unknown;
  assert.ok(diffLines(deep(5_000), deep(5_001)).length > 0);
});

test("equal values have no changes, and nothing has no lines", () => {
  assert.ok(diffLines({ a: [1] }, { a: [1] }).every(({ kind }) => kind === "same"));
  assert.deepEqual(written(diffLines(undefined, { a: 1 })), ["+a: 1"]);
  assert.deepEqual(written(diffLines({ a: 1 }, null)), ["-a: 1"]);
});

test("numbers keep their digits, keys that mean something to the engine are keys, and control characters don't come through", () => {
  const value = JSON.parse('{"__proto__": {"x": 1}, "text": "a\\u001b[31mb"}') as Record<string, unknown>;
  const lines = written(diffLines({}, { ...value, n: 9007199254740993n }));
  assert.ok(lines.includes('+"n": 9007199254740993'), lines.join("\n"));
  assert.ok(lines.includes("+__proto__:"), lines.join("\n"));
  assert.doesNotMatch(lines.join(""), /\p{Cc}/u);
});

test("near changes lines are shown, of what lies between only the parents", () => {
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`k${String(i).padStart(2, "0")}`, i]));
  const lines = diffLines({ spec: { ...many, last: 1 } }, { spec: { ...many, last: 2 } });
  assert.deepEqual(written(withGaps(lines)), [
    " spec:",
    "…",
    "   k17: 17",
    "   k18: 18",
    "   k19: 19",
    "-  last: 1",
    "+  last: 2",
  ]);
});

test("of too many lines those near the change are kept, and too many changes are not compared each with each", () => {
  const many = (seed: number) => Array.from({ length: MAX_DIFF_LINES + 5_000 }, (_, i) => i * seed);
  const long = [...many(1)];
  const lines = diffLines(long, [...long, "added"]);
  assert.ok(lines.length <= MAX_DIFF_LINES + 2);
  assert.deepEqual(
    lines.filter(({ kind }) => kind !== "same"),
    [{ kind: "added", text: "- added" }],
  );
  assert.ok(diffLines(many(1), many(3)).length <= MAX_DIFF_LINES + 2);
});

test("what is nested too deeply for the engine is not shown, and harms nobody", () => {
  let deep: unknown = 1;
  for (let i = 0; i < 20_000; i += 1) deep = [deep];
  assert.deepEqual(written(diffLines({ a: 1 }, deep)), ["-a: 1", "+…"]);
});
