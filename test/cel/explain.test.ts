import assert from "node:assert/strict";
import { test } from "node:test";
import { explain } from "../../src/cel/explain.js";
import { createEnvironment } from "../../src/cel/index.js";
import { DYN } from "../../src/cel/types.js";
import type { Result, Value } from "../../src/cel/values/value.js";
import { explanationLines } from "../../src/commands/cel/explain-text.js";

function explained(source: string, object: Value): readonly string[] {
  const compiled = createEnvironment({ flavour: "kubernetes", variables: [{ name: "object", type: DYN }] }).compile(
    source,
    { trace: true },
  );
  assert.ok(compiled.ok);
  const values = new Map<number, Result>();
  compiled.program.evaluate({ object }, { onValue: (id, value) => values.set(id, value) });
  return explanationLines(explain(compiled.program.parsed, values));
}

test("every part of an expression stands below the whole, with its value", () => {
  assert.deepEqual(explained("object.n + 1 > 5", { n: 5 }), [
    "object.n + 1 > 5  →  true",
    "  object.n + 1  →  6",
    "    object.n  →  5",
    '      object  →  {"n": 5}',
  ]);
});

test("what was not evaluated is said to be so, and errors are shown where they are", () => {
  assert.deepEqual(explained("object.zz || object.n == 5 || object.yy", { n: 5 }), [
    "object.zz || object.n == 5 || object.yy  →  true",
    "  object.zz || object.n == 5  →  true",
    "    object.zz  →  error: no such key: zz",
    '      object  →  {"n": 5}',
    "    object.n == 5  →  true",
    "      object.n  →  5",
    '        object  →  {"n": 5}',
    "  object.yy  →  not evaluated",
  ]);
});

test("loops show the last value, as they are written", () => {
  assert.deepEqual(explained("object.l.all(x, x > 1)", { l: [2, 1, 3] }), [
    "object.l.all(x, x > 1)  →  false",
    "  object.l  →  [2, 1, 3]",
    '    object  →  {"l": [2, 1, 3]}',
    "  x > 1  →  false",
    "    x  →  1",
  ]);
});
