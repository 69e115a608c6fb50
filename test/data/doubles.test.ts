import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { doublesInSteps, withDoubles } from "../../src/data/doubles.js";

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

describe("doubles in steps", () => {
  const stepped = (value: unknown, known: (part: object) => unknown = () => undefined) => {
    const steps = doublesInSteps(value, known);
    for (let count = 0; ; count++) {
      const step = steps.next();
      if (step.done === true) return { made: step.value, count };
    }
  };
  const numbers = Array.from({ length: 3_000 }, (_, index) => index);
  const wide = (member: (index: number) => unknown): Record<string, unknown> =>
    Object.fromEntries(numbers.map((index) => [`k${index}`, member(index)]));

  const values: Readonly<Record<string, unknown>> = {
    number: 7,
    text: "x",
    null: null,
    double: Object(1),
    empty: [[], {}],
    mixed: {
      a: [1, 2.5, "x", null, true, [Object(2), 3n]],
      b: { c: 2n ** 60n, d: [{}, { e: 1 }] },
      ["__proto__"]: { f: 1 },
    },
    "wide map": wide((index) => index),
    "wide map of texts": wide((index) => `${index}`),
    "wide map whose last is other": wide((index) => (index === 2_999 ? index : "x")),
    "wide map with a key of its own": JSON.parse(`{${numbers.map((index) => `"a${index}":"x"`)},"__proto__":1}`),
    "map of maps": wide((index) => ({ a: { b: index }, c: ["x"] })),
    "long list": numbers,
    "many small ones": numbers.map((index) => [{ index }, {}]),
    deep: numbers.slice(0, 400).reduce<unknown>((inner, index) => ({ inner, index }), "x"),
  };
  for (const [name, value] of Object.entries(values)) {
    test(`${name}: the same as at once, and what holds no integer is shared as well`, () => {
      const { made } = stepped(value);
      const atOnce = withDoubles(value);
      assert.deepEqual(made, atOnce);
      assert.equal(made === value, atOnce === value);
    });
  }

  test("each step looks at a few values only", () => {
    for (const name of ["wide map", "wide map of texts", "map of maps", "long list", "many small ones"])
      assert.ok(stepped(values[name]).count >= 29, `${name}: ${stepped(values[name]).count}`);
  });

  test("what was made before is taken, and not made again", () => {
    const part = { a: 1 };
    const before = { a: "made before" };
    assert.deepEqual(stepped({ part, other: 1 }, (asked) => (asked === part ? before : undefined)).made, {
      part: before,
      other: Object(1),
    });
  });
});
