import assert from "node:assert/strict";
import { test } from "node:test";
import { MainThreadLoad } from "../../src/server/server.js";

test("the load of the main thread is that of the last tenth of a second", () => {
  let now = 0;
  let active = 0;
  const load = new MainThreadLoad({
    now: () => now,
    utilization: (since) => {
      const idle = now - active;
      if (since === undefined) return { active, idle, utilization: 0 };
      const [more, total] = [active - since.active, active - since.active + idle - since.idle];
      return { active: more, idle: idle - since.idle, utilization: more / total };
    },
  });
  const pass = (milliseconds: number, worked: number): boolean => {
    now += milliseconds;
    active += worked;
    return load.isHigh();
  };
  assert.equal(load.isHigh(), false);
  assert.equal(pass(50, 50), false, "too short to tell");
  assert.equal(pass(50, 40), true);
  assert.equal(pass(50, 0), true, "still the last tenth of a second");
  assert.equal(pass(50, 0), false);
  assert.equal(pass(10_000, 5000), false);
});
