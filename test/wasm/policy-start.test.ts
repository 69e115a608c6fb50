/** How a policy's calls begin while its state is proved, and afterwards. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ModuleStore } from "../../src/wasm/module/prepare.js";
import { PolicyStart } from "../../src/wasm/policy-start.js";
import type { FoundStart } from "../../src/wasm/run/snapshot/start-report.js";
import { bytesOf } from "./wat.js";

const MODULE = new ModuleStore().prepare(
  bytesOf('(module (memory (export "memory") 1) (func (export "validate") (result i32) (i32.const 0)))'),
  10,
  "extism",
);
const TAKEN = { image: { pages: 1, runs: [] }, state: { globals: [1], exited: false }, ownBytes: 0 };

/** A policy's start behind two calls, with what was found. */
async function begun(found: FoundStart) {
  const clock = { now: 0 };
  const warnings: string[] = [];
  const start = new PolicyStart({
    module: await MODULE,
    enabled: true,
    newId: () => -1,
    take: () => Promise.resolve(found),
    warn: (message) => warnings.push(message),
    now: () => clock.now,
  });
  assert.deepEqual([start.begin(), start.begin()], [false, false]);
  await new Promise(setImmediate);
  /** Of so many calls, those that run cold as well. */
  const compared = (calls: number) => Array.from({ length: calls }, () => start.begin()).filter(Boolean).length;
  return { start, clock, warnings, compared };
}

const WARM: FoundStart = { report: { start: "warm" }, taken: TAKEN, isExact: false };

describe("a policy with a state that has to be proved", () => {
  test("has each call run cold as well until ten have agreed", async () => {
    const { start, compared } = await begun(WARM);
    assert.equal(compared(50), 50);
    assert.equal(start.isUsuallyInline, false);
    for (let left = 10; left > 0; left--) start.agreed(start.module);
    assert.equal(start.isUsuallyInline, true);
    assert.equal(compared(999), 0);
  });

  test("has one in a thousand run cold from then on, and none before 20 s have passed", async () => {
    const { start, clock, compared } = await begun(WARM);
    for (let left = 10; left > 0; left--) start.agreed(start.module);
    assert.equal(compared(1_000), 1);
    assert.equal(compared(10_000), 0);
    clock.now = 20_000;
    assert.equal(compared(10_000), 1);
    clock.now = 40_000;
    assert.equal(compared(999), 1);
    // Of a thousand calls one is wanted, the last.
    clock.now = 60_000;
    assert.equal(compared(1), 0);
    assert.equal(compared(1), 1);
  });

  test("begins cold again, for good and with a warning, when a call has shown that the state can't serve", async () => {
    const { start, warnings, compared } = await begun(WARM);
    for (let left = 10; left > 0; left--) start.agreed(start.module);
    start.refuse("it asks the host");
    assert.deepEqual(start.report, { start: "cold", because: "it asks the host" });
    assert.equal(start.module, await MODULE);
    assert.deepEqual(warnings, ["the policy's instances begin cold again: it asks the host"]);
    assert.equal(compared(5_000), 0);
  });
});

describe("a policy whose calls are kept above a floor", () => {
  const found: FoundStart = { report: { start: "cold", because: "it answers no neutral request" }, isExact: true };
  const without = async (): Promise<WebAssembly.Module> => (await MODULE).module;

  /** Behind two calls. @param takes what is found, one after the other */
  async function begunAbove(...takes: FoundStart[]) {
    let taken = 0;
    let ids = 0;
    const start = new PolicyStart({
      module: { ...(await MODULE), floor: { address: 4_096, without } },
      enabled: true,
      newId: () => --ids,
      take: () => Promise.resolve(takes[taken++] ?? found),
      warn: () => {},
      now: () => 0,
    });
    start.begin();
    start.begin();
    await new Promise(setImmediate);
    return { start, taken: () => taken };
  }

  test("has none any more when one needed what is below, and its memory is another one's", async () => {
    const { start, taken } = await begunAbove(found, WARM);
    const { id } = start.module;
    const plain = await without();
    start.dropFloor(plain);
    assert.equal(start.module.floor, undefined);
    assert.notEqual(start.module.id, id);
    const { id: cold } = start.module;
    // A second call that had to, meanwhile.
    start.dropFloor(plain);
    assert.equal(start.module.id, cold);
    await new Promise(setImmediate);
    // What had been tried for a state may have trapped.
    assert.equal(taken(), 2);
    assert.deepEqual(start.report, { start: "warm" });
    assert.equal(start.module.floor, undefined);
    start.refuse("it asks the host");
    assert.equal(start.module.floor, undefined);
    assert.equal(start.module.id, cold);
  });

  test("keeps the state that was taken", async () => {
    const { start, taken } = await begunAbove(WARM);
    const { state, id } = start.module;
    start.dropFloor(await without());
    assert.equal(taken(), 1);
    assert.equal(start.module.state, state);
    assert.equal(start.module.floor, undefined);
    assert.notEqual(start.module.id, id);
  });
});

test("a policy with a state that is that of any start has no call run cold", async () => {
  const { start, compared } = await begun({ ...WARM, report: { start: "started" }, isExact: true });
  assert.equal(start.module.id, -1);
  assert.equal(start.isUsuallyInline, true);
  assert.equal(compared(5_000), 0);
});
