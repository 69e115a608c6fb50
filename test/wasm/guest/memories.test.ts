import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Memories } from "../../../src/wasm/guest/memories.js";
import { emptyImage, imageOf } from "../../../src/wasm/image/memory-image.js";

const SHAPE = { initial: 2, maximum: 400 };
const PAGE = 64 * 1024;
const EMPTY = emptyImage(SHAPE.initial);

describe("memories of guests", () => {
  test("are wiped before they are used again", () => {
    const memories = new Memories();
    const first = memories.take(1, SHAPE, EMPTY);
    new Uint8Array(first.buffer).fill(7);
    memories.give(1, first, EMPTY);
    const second = memories.take(1, SHAPE, EMPTY);
    assert.equal(second, first);
    assert.ok(new Uint8Array(second.buffer).every((byte) => byte === 0));
  });

  test("begin with an image, and come back to it wherever they were written", () => {
    const memories = new Memories();
    const image = imageOf(2, [
      { at: 5_000, bytes: Buffer.from("first") },
      { at: PAGE + 10, bytes: new Uint8Array(20_000).fill(3) },
    ]);
    const expected = new Uint8Array(2 * PAGE);
    expected.set(Buffer.from("first"), 5_000);
    expected.fill(3, PAGE + 10, PAGE + 20_010);
    const first = memories.take(1, SHAPE, image);
    assert.deepEqual(new Uint8Array(first.buffer), expected);
    for (const at of [0, 4_095, 4_096, 5_003, 8_191, PAGE + 19_000, PAGE + 20_010, 2 * PAGE - 1]) {
      new Uint8Array(first.buffer)[at] = 9;
      memories.give(1, first, image);
      assert.equal(new Uint8Array(first.buffer)[at], 9, "may be read until it is tidied");
      if (at % 2 === 0) memories.tidy();
      assert.equal(memories.take(1, SHAPE, image), first);
      assert.deepEqual(new Uint8Array(first.buffer), expected);
    }
  });

  test("go from one image of a module to another", () => {
    const memories = new Memories();
    const one = imageOf(2, [{ at: 0, bytes: Buffer.from("one") }]);
    const other = imageOf(2, [{ at: PAGE, bytes: Buffer.from("other") }]);
    const first = memories.take(1, SHAPE, one);
    memories.give(1, first, one);
    memories.tidy();
    assert.equal(memories.take(1, SHAPE, other), first);
    const bytes = Buffer.from(first.buffer);
    assert.equal(bytes.indexOf("one"), -1);
    assert.equal(bytes.indexOf("other"), PAGE);
  });

  test("are not shared by instances that live at the same time", () => {
    const memories = new Memories();
    memories.give(1, memories.take(1, SHAPE, EMPTY), EMPTY);
    assert.notEqual(memories.take(1, SHAPE, EMPTY), memories.take(1, SHAPE, EMPTY));
  });

  test("belong to one module", () => {
    const memories = new Memories();
    const first = memories.take(1, SHAPE, EMPTY);
    memories.give(1, first, EMPTY);
    assert.notEqual(memories.take(2, SHAPE, EMPTY), first);
  });

  test("that have grown a little are kept as they are", () => {
    for (const [pages, kept] of [
      [16, true],
      [17, false],
    ] as const) {
      const memories = new Memories();
      const grown = memories.take(1, SHAPE, EMPTY);
      (grown as unknown as { grow(pages: number): void }).grow(pages);
      memories.give(1, grown, EMPTY);
      assert.equal(memories.take(1, SHAPE, EMPTY) === grown, kept);
    }
  });

  test("that have grown much are given up", () => {
    const memories = new Memories();
    const grown = memories.take(1, SHAPE, EMPTY);
    (grown as unknown as { grow(pages: number): void }).grow(200);
    memories.give(1, grown, EMPTY);
    assert.equal(memories.take(1, SHAPE, EMPTY).buffer.byteLength, SHAPE.initial * PAGE);
  });

  test("that have grown are given up when they are too large to be wiped quickly, whatever the module asked for", () => {
    const memories = new Memories();
    const shape = { initial: 129, maximum: 400 };
    const image = emptyImage(shape.initial);
    const large = memories.take(1, shape, image);
    memories.give(1, large, image);
    assert.notEqual(memories.take(1, shape, image), large);
  });

  test("that can't be had are an error of their own", () =>
    assert.throws(() => new Memories().take(1, { initial: 70_000, maximum: 70_000 }, emptyImage(70_000)), {
      name: "GuestMemoryError",
    }));

  test("are kept for a bounded number of modules", () => {
    const memories = new Memories();
    const first = memories.take(0, SHAPE, EMPTY);
    memories.give(0, first, EMPTY);
    for (let module = 1; module <= 16; module++) memories.give(module, memories.take(module, SHAPE, EMPTY), EMPTY);
    assert.notEqual(memories.take(0, SHAPE, EMPTY), first);
  });
});
