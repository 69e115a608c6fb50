import assert from "node:assert/strict";
import { test } from "node:test";
import { explain } from "../../src/cel/explain.js";
import { createEnvironment } from "../../src/cel/index.js";
import { DYN } from "../../src/cel/types.js";
import { CelError } from "../../src/cel/values/cel-error.js";
import type { Result, Value } from "../../src/cel/values/value.js";
import { partLines } from "../../src/cli/explain/expression-lines.js";
import { explainedValue, valueText } from "../../src/kinds/explanation/index.js";

function explained(source: string, object: Value): readonly string[] {
  const compiled = createEnvironment({ flavour: "kubernetes", variables: [{ name: "object", type: DYN }] }).compile(
    source,
    { trace: true },
  );
  assert.ok(compiled.ok);
  const values = new Map<number, Result>();
  compiled.program.evaluate({ object }, { onValue: (id, value) => values.set(id, value) });
  return partLines(explainedValue(explain(compiled.program.parsed, values)));
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

test("a chain that ends early shows where", () => {
  assert.deepEqual(explained("object.a.b.c == 1", { a: {} }), [
    "object.a.b.c == 1  →  error: no such key: b",
    "  object.a.b.c  →  error: no such key: b",
    "    object.a.b  →  error: no such key: b",
    "      object.a  →  {}",
    '        object  →  {"a": {}}',
  ]);
  assert.deepEqual(explained("object.?a.b.orValue(1)", {}), [
    "object.?a.b.orValue(1)  →  1",
    "  object.?a.b  →  optional.none()",
    "    object.?a  →  optional.none()",
    "      object  →  {}",
  ]);
});

test("has() is a question to what comes before the last name", () => {
  assert.deepEqual(explained("has(object.a.b)", { a: {} }), [
    "has(object.a.b)  →  false",
    "  object.a  →  {}",
    '    object  →  {"a": {}}',
  ]);
});

test("of a long value no more is read than is shown, and control characters are not passed on", () => {
  let read = 0;
  const list = new Proxy(Array<number>(100_000).fill(7), {
    get(target, key) {
      if (typeof key === "string" && /^\d+$/.test(key)) read += 1;
      return Reflect.get(target, key) as unknown;
    },
  });
  assert.equal(valueText(list as unknown as Value).length, 301);
  assert.ok(read < 400, `${read} items read`);
  assert.equal(valueText(new CelError("a\u001b[31m\nb")), "error: a\\u001b[31m b");
});
