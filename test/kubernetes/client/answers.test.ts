import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { readAnswer } from "../../../src/kubernetes/client/answers.js";
import { STORE_PAGE_BYTES } from "../../../src/kubernetes/client/limits.js";

/** A list whose objects have `managedFields`, in so many characters at least. */
function list(least: number): { readonly kind: string; readonly items: readonly object[] } {
  const fieldsV1 = { "f:spec": { "f:ports": { 'k:{"port":80}': { ".": {}, "f:port": {} } } } };
  const item = (i: number) => ({ metadata: { name: `thing-${i}`, managedFields: [{ manager: "m", fieldsV1 }] } });
  const size = JSON.stringify(item(100_000)).length;
  return { kind: "List", items: Array.from({ length: Math.ceil(least / size) }, (_, i) => item(i)) };
}

test("a long answer is read with turns for others in between, a short one at once", async () => {
  for (const [length, least] of [
    [10_000, 0],
    [STORE_PAGE_BYTES / 4, 1],
    [STORE_PAGE_BYTES * 1.5, 50],
  ] as const) {
    const written = list(length);
    let reading = true;
    const answer = readAnswer(JSON.stringify(written)).finally(() => {
      reading = false;
    });
    let turns = 0;
    for (await Promise.resolve(); reading; turns++) await turn();
    assert.deepEqual(await answer, written);
    assert.ok(turns >= least, `${turns} turns`);
  }
});

test("what is not JSON fails however long it is", async () => {
  for (const length of [10, STORE_PAGE_BYTES * 1.5]) {
    const text = JSON.stringify(list(length)).slice(0, -1);
    await assert.rejects(readAnswer(text), { name: "JsonError" });
  }
});
