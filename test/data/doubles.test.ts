import assert from "node:assert/strict";
import { test } from "node:test";
import { withDoubles } from "../../src/data/doubles.js";

test("integers become doubles, wherever they stand", () => {
  assert.deepEqual(withDoubles({ a: [1, 2.5, "x"], b: { c: 2n ** 60n } }), {
    a: [Object(1), 2.5, "x"],
    b: { c: 2 ** 60 },
  });
  assert.deepEqual(withDoubles(7), Object(7));
});

test("what holds no integer is shared, and nothing is changed in place", () => {
  const texts = { a: ["x"] };
  const value = { texts, n: 1, ["__proto__"]: 2 };
  const made = withDoubles(value) as Record<string, unknown>;
  assert.equal(made.texts, texts);
  assert.equal(value.n, 1);
  assert.equal(withDoubles(texts), texts);
});
