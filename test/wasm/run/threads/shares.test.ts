/** What long calls may take of the processors. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Demand, mainLoad, sharesOf } from "../../../../src/wasm/run/threads/shares.js";

const demand = (some: Partial<Demand>): Demand => ({ processors: 1, main: 0, short: 0, long: 1, late: 0, ...some });

describe("the share of long calls", () => {
  test("is all of a processor that nobody else wants", () => {
    assert.deepEqual(sharesOf(demand({})), { early: 1, late: 1 });
    // The next one's, while there is none.
    assert.deepEqual(sharesOf(demand({ long: 0 })), { early: 1, late: 1 });
    assert.equal(sharesOf(demand({ long: 0, main: 1 })).early, 0.5);
    assert.deepEqual(sharesOf(demand({ processors: 4, main: 1, long: 2, late: 1 })), { early: 1, late: 1 });
  });

  test("is what the main thread and short calls leave", () => {
    const { early, late } = sharesOf(demand({ processors: 2, main: 0.1, short: 1, long: 1, late: 1 }));
    assert.equal(early, 0.8);
    assert.equal(late, 0.4);
  });

  for (const busy of [demand({ main: 0.5 }), demand({ main: 1 }), demand({ processors: 4, main: 0, short: 7 })])
    test(`on a busy machine (${JSON.stringify(busy)}) is half of a processor at first, and a twentieth after that`, () => {
      assert.deepEqual(sharesOf(busy), { early: 0.5, late: 0.05 });
      const { early, late } = sharesOf({ ...busy, long: 2, late: 3 });
      // On one processor they wait for each other as well.
      const together = busy.processors === 1 ? 1 - (1 - early) ** 2 : 2 * early;
      assert.ok(Math.abs(together - 0.5) < 1e-9, `${together}`);
      assert.equal(late, 0.01);
    });

  test("no number of calls together takes more than that from a busy main thread", () => {
    for (let calls = 1; calls <= 32; calls++) {
      const { early, late } = sharesOf(demand({ main: 1, long: calls, late: calls }));
      // The part of the time in which one of them computes.
      assert.ok(1 - (1 - early) ** calls <= 0.501 && late * 2 * calls <= 0.051);
    }
  });
});

test("the main thread's load is high while it computes, and falls slowly", async () => {
  const load = mainLoad();
  const until = performance.now() + 20;
  while (performance.now() < until);
  // Newer versions of Node count a turn of the event loop when it ends.
  await new Promise(setImmediate);
  assert.ok(load() >= 0.9);
  const falling = Array.from({ length: 3 }, load);
  assert.ok(falling.every((value) => value >= 0.5 && value <= 1));
});
