/** The clock is looked at by the work that is done, and an evaluation holds its thread for no longer than its stretch. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Meter } from "../../../src/cel/compiler/meter.js";
import { createEnvironment } from "../../../src/cel/index.js";
import { DYN } from "../../../src/cel/types.js";
import { CelError } from "../../../src/cel/values/cel-error.js";
import { Interruption } from "../../../src/cel/values/interruption.js";
import type { Value } from "../../../src/cel/values/value.js";

const environment = createEnvironment({ flavour: "kubernetes", variables: [{ name: "object", type: DYN }] });

/** Whether the evaluation ends at its first look at a clock that is past the deadline. */
function looks(source: string, object: Value): boolean {
  const compiled = environment.compile(source);
  assert.ok(compiled.ok, compiled.ok ? "" : compiled.text);
  const { result } = compiled.program.evaluate({ object }, { deadline: { at: 0, now: () => 1 } });
  return result instanceof CelError && result.code === "interrupted";
}

const TEXT = "a".repeat(400_000);
const LIST = Array.from({ length: 300_000 }, (_, index) => index);
const WIDE = Object.fromEntries(LIST.slice(0, 100_000).map((index) => [`key-${index}`, index]));

describe("one call of much work is a reason to look at the clock", () => {
  const cases: readonly (readonly [string, Value, Value])[] = [
    ["object.contains('b')", TEXT, "a"],
    ["object.matches('b+c')", TEXT, "a"],
    ["object.lowerAscii() == ''", TEXT, "a"],
    ["size(object) == 1", TEXT, "a"],
    ["object + 'b' == ''", TEXT, "a"],
    ["object < object", TEXT, "a"],
    ["[object] == [object + '']", TEXT, "a"],
    ["'b' == object", TEXT, "a"],
    ["-1 in object", LIST, [1]],
    ["(object + object).size() == 1", LIST, [1]],
    ["object.indexOf(-1) == 1", LIST, [1]],
    ["'%s'.format([object]) == ''", LIST, [1]],
    ["[object] == [[1]] || object == object", LIST, [1]],
    ["size(object) == 1", WIDE, { a: 1 }],
    ["object == {'a': 1} || object == object", WIDE, { a: 1 }],
    ["object.exists(k, true)", WIDE, { a: 1 }],
  ];
  for (const [source, large, small] of cases) {
    test(source, () => {
      if (source !== "'b' == object") assert.equal(looks(source, large), true);
      assert.equal(looks(source, small), false);
    });
  }
});

describe("a stretch", () => {
  const compiled = environment.compile("object.all(x, x >= 0) || true");
  assert.ok(compiled.ok);
  const { program } = compiled;

  /** The outcome where every look at the clock finds that so many milliseconds have passed. */
  function outcome(turns: number, step: number, stretch: number | undefined): unknown {
    let now = 0;
    const clock = (): number => {
      now += step;
      return now;
    };
    const deadline = { at: Number.POSITIVE_INFINITY, now: clock, ...(stretch !== undefined && { stretch }) };
    const object = Array.from({ length: turns }, () => 1);
    const { result } = program.evaluate({ object }, { deadline, costLimit: Number.POSITIVE_INFINITY });
    return result instanceof CelError ? result.code : result;
  }

  test("ends what has held its thread for longer, and has done work that takes as long", () => {
    assert.equal(outcome(2_000_000, 10, 100), "interrupted");
  });

  test("does not end what has done little, and only was not given its turn", () => {
    assert.equal(outcome(50_000, 10_000, 100), true);
  });

  test("does not end what has done much in little time", () => {
    assert.equal(outcome(2_000_000, 0.1, 100), true);
  });

  describe("with a large call, which nothing interrupts", () => {
    /** Whether a call of so many units is made when so many were done before, and so many milliseconds have passed. */
    function made(units: number, before: number, spent: number): boolean {
      let now = 0;
      const deadline = { at: Number.POSITIVE_INFINITY, now: () => now, stretch: 100 };
      const meter = new Meter(1, undefined, undefined, deadline, undefined);
      meter.spend(before);
      now = spent;
      try {
        meter.spend(units);
        return true;
      } catch (thrown) {
        assert.ok(thrown instanceof Interruption && thrown.reason === "deadline");
        return false;
      }
    }

    test("does not begin what would take longer than is left", () => {
      assert.equal(made(60_000_000, 30_000_000, 39), true);
      assert.equal(made(60_000_000, 30_000_000, 41), false);
    });

    test("begins it where little was done before, however long it will take", () => {
      assert.equal(made(300_000_000, 1_000_000, 5), true);
    });

    test("begins small ones until the time is over", () => {
      assert.equal(made(300_000, 30_000_000, 99), true);
    });
  });

  test("has begun before the keys of a wide map were listed", () => {
    let now = 0;
    const deadline = { at: Number.POSITIVE_INFINITY, now: () => now, stretch: 100 };
    const ends = (object: object): boolean => {
      const meter = new Meter(1, undefined, undefined, deadline, undefined);
      now = 0;
      meter.keysOf(object);
      meter.spend(30_000_000);
      now = 90;
      try {
        meter.spend(1_000_000);
        return false;
      } catch (thrown) {
        assert.ok(thrown instanceof Interruption && thrown.reason === "deadline");
        return true;
      }
    };
    assert.equal(ends(WIDE), true);
    assert.equal(ends({ a: 1 }), false);
  });

  test("is none by default", () => {
    assert.equal(outcome(2_000_000, 10_000, undefined), true);
  });

  test("goes on in the repetition that finds the cost at which the limit was exceeded", () => {
    let now = 0;
    const meter = new Meter(
      1,
      undefined,
      undefined,
      { at: Number.POSITIVE_INFINITY, now: () => now, stretch: 100 },
      undefined,
    );
    meter.spend(30_000_000);
    now = 101;
    assert.throws(
      () => meter.again().look(),
      (thrown) => thrown instanceof Interruption && thrown.reason === "deadline",
    );
  });
});

test("the keys of a wide map are listed once", () => {
  const meter = new Meter(1, undefined, undefined, undefined, undefined);
  assert.equal(meter.keysOf(WIDE), meter.keysOf(WIDE));
  assert.deepEqual(meter.keysOf({ a: 1 }), ["a"]);
});
