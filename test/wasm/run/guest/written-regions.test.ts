import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { WrittenRegions } from "../../../../src/wasm/run/guest/written-regions.js";

const REGION = 8_192;
const SLACK = 4_096;
/** Bytes of a memory in which each bit stands for two regions. */
const BYTES = 128 * REGION;

/** Where a memory was written to, when the host has noted so. */
function noted(address: number, length: number): readonly number[] {
  const written = new WrittenRegions({ shifts: [13] });
  written.note(address, length);
  return written.take(BYTES);
}

/** A region and what is behind it, in both places that its bit stands for. */
const both = (first: number, last = first) =>
  [first, first + 64].flatMap((region) => [
    region * REGION,
    Math.min((region + last - first + 1) * REGION + SLACK, BYTES),
  ]);

describe("what the host notes", () => {
  test("is all regions from the first byte to the last one, and those that have the same bits", () => {
    assert.deepEqual(noted(0, 1), both(0));
    assert.deepEqual(noted(3 * REGION - 1, 1), both(2));
    assert.deepEqual(noted(3 * REGION - 1, 2), both(2, 3));
    assert.deepEqual(noted(67 * REGION, REGION), both(3));
    assert.deepEqual(noted(30 * REGION, 4 * REGION), both(30, 33));
  });

  test("is nothing when nothing is written", () => assert.deepEqual(noted(REGION, 0), []));

  test("is all of the memory when it is longer than there are regions, or has no length that makes sense", () => {
    for (const length of [63 * REGION + 1, BYTES, -1, 2 ** 33]) assert.deepEqual(noted(0, length), [0, BYTES]);
  });

  test("may have an address above 2 GiB, signed as guests give it", () => {
    const written = new WrittenRegions({ shifts: [26] });
    written.note(-(2 ** 31), 1);
    assert.deepEqual(written.take(2 ** 32), [2 ** 31, 2 ** 31 + 2 ** 26 + SLACK]);
  });

  test("is told from regions of the same bit where larger regions have bits, too", () => {
    const written = new WrittenRegions({ shifts: [13, 16] });
    const part = (region: number) => [region * REGION, (region + 1) * REGION + SLACK];
    written.note(3 * REGION, 1);
    assert.deepEqual(written.take(BYTES), part(3));
    written.note(67 * REGION, REGION);
    assert.deepEqual(written.take(BYTES), part(67));
    written.note(3 * REGION, 1);
    written.note(77 * REGION, 1);
    assert.deepEqual(written.take(BYTES), [...part(3), ...part(77)], "77 is 13 and 64");
    written.note(0, 64 * REGION);
    assert.deepEqual(written.take(BYTES), [0, 64 * REGION + SLACK], "long ranges, too");
    written.note(3 * REGION, 1);
    assert.deepEqual(written.take(8 * BYTES), [...part(3), ...part(3 + 512)], "until their bits have others, too");
  });

  test("is forgotten when it is taken", () => {
    const written = new WrittenRegions({ shifts: [13] });
    written.note(REGION, 1);
    assert.equal(written.take(BYTES).length, 4);
    assert.deepEqual(written.take(BYTES), []);
  });
});
