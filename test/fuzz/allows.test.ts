import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { compileGroupExpression } from "../../src/kinds/group/expression.js";
import { eachWayAlone, run } from "./allows.js";
import { BOOL_FORMS, expression } from "./allows-expressions.js";
import { guests } from "./allows-guests.js";
import { random } from "./random.js";

/** Another one is another run: `npm run fuzz` takes them one after the other. */
const SEED = 20_261_122;

test("every form of an expression compiles with some of its parts", () => {
  const next = random(SEED);
  for (const [number, form] of BOOL_FORMS.entries()) {
    const compiles = Array.from({ length: 12 }).some(
      () => "program" in compileGroupExpression(expression(next, ["m"], number), ["m"]),
    );
    assert.ok(compiles, form);
  }
});

describe("no failure of a member allows", () => {
  test("alone, plain or negated, in any request", async () => {
    const { cases, faults } = await eachWayAlone();
    assert.deepEqual(faults.slice(0, 3), []);
    assert.ok(cases > 5_000, `${cases} cases`);
  });

  test("where its answer matters, in expressions of every form", async () => {
    const found = await run({ seconds: 30, cases: 20_000 }, SEED);
    assert.deepEqual(found.faults, []);
    // It would find nothing if failures never mattered, or if everything were denied.
    assert.ok(found.decisive > 0 && found.allowed > 0, JSON.stringify(found));
  });

  test("of real guests, cold and warm", async () => {
    const around = await guests();
    try {
      const found = await run({ seconds: 4, cases: 1_000 }, SEED, around);
      assert.deepEqual(found.faults, []);
      assert.ok(found.decisive > 0 && found.allowed > 0, JSON.stringify(found));
    } finally {
      await around.close();
    }
  });
});
