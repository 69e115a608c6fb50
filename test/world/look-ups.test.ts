import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MAX_IMAGES, RegistryImages } from "../../src/world/images/registry-images.js";
import { LookUps } from "../../src/world/look-ups.js";
import { until } from "../support/until.js";

/** Asks, and counts how often the question was put. */
function counting(lookUps: LookUps<string>, answer = (key: string) => key) {
  const put: string[] = [];
  return {
    put,
    ask: (key: string, keptMs = 60_000) =>
      lookUps.ask(
        key,
        async () => {
          put.push(key);
          return answer(key);
        },
        () => keptMs,
      ),
  };
}

describe("answers that are kept", () => {
  test("are so many at most", async () => {
    const { ask, put } = counting(new LookUps(() => 1, { max: 2 }));
    for (const key of ["a", "b", "b", "c", "c", "a"]) await ask(key);
    assert.deepEqual(put, ["a", "b", "c", "a"]);
  });

  test("take so much room at most, their names included; one that is larger than one may be is not kept", async () => {
    const room = { bytes: 1_000, each: 400, sizeOf: (answer: string) => answer.length };
    const { ask, put } = counting(new LookUps(() => 1, { room }), (key) => key.repeat(300));
    for (const key of ["a", "b", "c", "d"]) await ask(key);
    // Three of some 300 have room: the first gave way.
    for (const key of ["d", "c", "b", "a"]) await ask(key);
    assert.deepEqual(put, ["a", "b", "c", "d", "a"]);
    put.length = 0;
    for (const key of ["xx", "xx"]) assert.equal(await ask(key), "xx".repeat(300));
    assert.deepEqual(put, ["xx", "xx"]);
    put.length = 0;
    const long = counting(new LookUps(() => 1, { room }), () => "");
    for (const key of ["x".repeat(500), "x".repeat(500)]) await long.ask(key);
    assert.equal(long.put.length, 2);
  });

  test("are let go of when their time is over, also when nobody asks any more", async () => {
    const lookUps = new LookUps<string>(() => performance.now());
    await counting(lookUps).ask("a", 5);
    await until("its end", () => lookUps.size === 0);
  });
});

describe("images", () => {
  test("are kept, so many and of so much", async () => {
    const put: string[] = [];
    const read = async (reference: string) => {
      put.push(reference);
      return { name: reference, labels: reference.startsWith("large") ? "x".repeat(300_000) : "" };
    };
    const images = new RegistryImages(read, () => 1, new AbortController().signal);
    for (let i = 0; i <= MAX_IMAGES; i++) await images.metadata(`i${i}`);
    await images.metadata(`i${MAX_IMAGES}`);
    assert.equal(put.length, MAX_IMAGES + 1);
    await images.metadata("i0");
    assert.equal(put.length, MAX_IMAGES + 2);
    await images.metadata("large");
    await images.metadata("large");
    assert.equal(put.length, MAX_IMAGES + 4);
  });
});
