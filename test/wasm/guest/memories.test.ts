import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Memories } from "../../../src/wasm/guest/memories.js";

const SHAPE = { initial: 2, maximum: 400 };
const PAGE = 64 * 1024;

describe("memories of guests", () => {
  test("are wiped before they are used again", () => {
    const memories = new Memories();
    const first = memories.take(1, SHAPE);
    new Uint8Array(first.buffer).fill(7);
    memories.give(1, first, SHAPE);
    const second = memories.take(1, SHAPE);
    assert.equal(second, first);
    assert.ok(new Uint8Array(second.buffer).every((byte) => byte === 0));
  });

  test("are not shared by instances that live at the same time", () => {
    const memories = new Memories();
    memories.give(1, memories.take(1, SHAPE), SHAPE);
    assert.notEqual(memories.take(1, SHAPE), memories.take(1, SHAPE));
  });

  test("belong to one module", () => {
    const memories = new Memories();
    const first = memories.take(1, SHAPE);
    memories.give(1, first, SHAPE);
    assert.notEqual(memories.take(2, SHAPE), first);
  });

  test("that have grown a little are kept as they are", () => {
    for (const [pages, kept] of [
      [16, true],
      [17, false],
    ] as const) {
      const memories = new Memories();
      const grown = memories.take(1, SHAPE);
      (grown as unknown as { grow(pages: number): void }).grow(pages);
      memories.give(1, grown, SHAPE);
      assert.equal(memories.take(1, SHAPE) === grown, kept);
    }
  });

  test("that have grown much are given up", () => {
    const memories = new Memories();
    const grown = memories.take(1, SHAPE);
    (grown as unknown as { grow(pages: number): void }).grow(200);
    memories.give(1, grown, SHAPE);
    assert.equal(memories.take(1, SHAPE).buffer.byteLength, SHAPE.initial * PAGE);
  });

  test("that have grown are given up when they are too large to be wiped quickly, whatever the module asked for", () => {
    const memories = new Memories();
    const shape = { initial: 129, maximum: 400 };
    const large = memories.take(1, shape);
    memories.give(1, large, shape);
    assert.notEqual(memories.take(1, shape), large);
  });

  test("that can't be had are an error of their own", () =>
    assert.throws(() => new Memories().take(1, { initial: 70_000, maximum: 70_000 }), { name: "GuestMemoryError" }));

  test("are kept for a bounded number of modules", () => {
    const memories = new Memories();
    const first = memories.take(0, SHAPE);
    memories.give(0, first, SHAPE);
    for (let module = 1; module <= 16; module++) memories.give(module, memories.take(module, SHAPE), SHAPE);
    assert.notEqual(memories.take(0, SHAPE), first);
  });
});
