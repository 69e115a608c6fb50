import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { highMarksName, lowMarksName } from "../../../../src/wasm/names.js";
import { emptySnapshot, imageOf } from "../../../../src/wasm/rewrite/snapshot/memory-snapshot.js";
import type { Marking } from "../../../../src/wasm/rewrite/write-barriers/marking.js";
import { MISSED, Places } from "../../../../src/wasm/run/guest/instance-pool.js";

const SHAPE = { initial: 2, maximum: 400 };
const PAGE = 64 * 1024;
const EMPTY = emptySnapshot(SHAPE.initial);

const MARKING: Marking = { shifts: [13] };

/** An instance whose marks the test sets. */
function instanceWithMarks() {
  const marks = { low: 0, high: 0 };
  const read = (half: "low" | "high") => () => {
    const value = marks[half];
    marks[half] = 0;
    return value;
  };
  const exports = { [lowMarksName(0)]: read("low"), [highMarksName(0)]: read("high") };
  return Object.assign(marks, { instance: { exports } as WebAssembly.Instance });
}

describe("places of guests", () => {
  test("are wiped before they are used again", () => {
    const places = new Places();
    const first = places.take(1, SHAPE, EMPTY);
    new Uint8Array(first.memory.buffer).fill(7);
    places.give(first);
    const second = places.take(1, SHAPE, EMPTY);
    assert.equal(second, first);
    assert.ok(new Uint8Array(second.memory.buffer).every((byte) => byte === 0));
  });

  test("begin with an image, and come back to it wherever they were written", () => {
    const places = new Places();
    const image = imageOf(2, [
      { at: 5_000, bytes: Buffer.from("first") },
      { at: PAGE + 10, bytes: new Uint8Array(20_000).fill(3) },
    ]);
    const expected = new Uint8Array(2 * PAGE);
    expected.set(Buffer.from("first"), 5_000);
    expected.fill(3, PAGE + 10, PAGE + 20_010);
    const first = places.take(1, SHAPE, image);
    assert.deepEqual(new Uint8Array(first.memory.buffer), expected);
    for (const at of [0, 4_095, 4_096, 5_003, 8_191, PAGE + 19_000, PAGE + 20_010, 2 * PAGE - 1]) {
      new Uint8Array(first.memory.buffer)[at] = 9;
      places.give(first);
      assert.equal(new Uint8Array(first.memory.buffer)[at], 9, "may be read until it is tidied");
      if (at % 2 === 0) places.tidy();
      assert.equal(places.take(1, SHAPE, image), first);
      assert.deepEqual(new Uint8Array(first.memory.buffer), expected);
    }
  });

  test("go from one image of a module to another", () => {
    const places = new Places();
    const one = imageOf(2, [{ at: 0, bytes: Buffer.from("one") }]);
    const other = imageOf(2, [{ at: PAGE, bytes: Buffer.from("other") }]);
    const first = places.take(1, SHAPE, one);
    places.give(first);
    places.tidy();
    assert.equal(places.take(1, SHAPE, other), first);
    const bytes = Buffer.from(first.memory.buffer);
    assert.equal(bytes.indexOf("one"), -1);
    assert.equal(bytes.indexOf("other"), PAGE);
  });

  test("are brought back where their guest has marked, and their host noted, that they were written to", () => {
    const places = new Places();
    const marked = instanceWithMarks();
    const take = () => {
      const place = places.take(1, SHAPE, EMPTY, { marking: MARKING });
      place.entered(marked.instance);
      return place;
    };
    for (let round = 0; round < 8; round++) {
      const place = take();
      const bytes = new Uint8Array(place.memory.buffer);
      assert.ok(bytes.every((byte) => byte === 0));
      bytes.fill(7, 3 * 8_192, 4 * 8_192 + 4_000);
      marked.low = 1 << 3;
      bytes.fill(7, 9 * 8_192, 11 * 8_192);
      place.note(9 * 8_192, 2 * 8_192);
      places.give(place);
    }
  });

  test("are brought back from a floor on, and as a whole when their host has written below", () => {
    const places = new Places();
    const floor = { address: 8_192, without: () => Promise.reject(new Error("is not asked for")) };
    for (let round = 0; round < 8; round++) {
      const place = places.take(1, SHAPE, EMPTY, { floor });
      const bytes = new Uint8Array(place.memory.buffer);
      assert.ok(
        bytes.every((byte) => byte === 0),
        `${round}`,
      );
      bytes.fill(7, floor.address);
      place.note(20_000, 20_000);
      place.note(100, 0);
      if (round % 2 === 0) {
        bytes.fill(7, 8_000, 8_200);
        place.note(8_000, 200);
      }
      places.give(place);
    }
  });

  test("are looked at as a whole at first: a module with a mark that is missing is not trusted again", async () => {
    const places = new Places();
    const { instance } = instanceWithMarks();
    const warnings: Error[] = [];
    const listeners = process.listeners("warning");
    process.removeAllListeners("warning");
    process.on("warning", (warning) => warnings.push(warning));
    for (let round = 0; round < 10; round++) {
      const place = places.take(1, SHAPE, EMPTY, { marking: MARKING });
      place.entered(instance);
      const bytes = new Uint8Array(place.memory.buffer);
      assert.ok(bytes.every((byte) => byte === 0));
      bytes[5 * 8_192] = round < 1 ? 0 : 9;
      places.give(place);
    }
    await new Promise((resolve) => setImmediate(resolve));
    process.removeAllListeners("warning");
    for (const listener of listeners) process.on("warning", listener);
    assert.deepEqual(
      warnings.map((warning) => (warning as Error & { code?: string }).code),
      [MISSED],
    );
  });

  test("can be made before they are needed", () => {
    const places = new Places();
    assert.equal(places.prepare(1, SHAPE, EMPTY, { marking: MARKING }), true);
    assert.equal(places.prepare(1, SHAPE, EMPTY, { marking: MARKING }), false);
    const first = places.take(1, SHAPE, EMPTY, { marking: MARKING });
    assert.equal(places.prepare(1, SHAPE, EMPTY, { marking: MARKING }), true);
    assert.notEqual(places.take(1, SHAPE, EMPTY, { marking: MARKING }), first);
  });

  test("are not shared by instances that live at the same time", () => {
    const places = new Places();
    places.give(places.take(1, SHAPE, EMPTY));
    assert.notEqual(places.take(1, SHAPE, EMPTY), places.take(1, SHAPE, EMPTY));
  });

  test("belong to one module", () => {
    const places = new Places();
    const first = places.take(1, SHAPE, EMPTY);
    places.give(first);
    assert.notEqual(places.take(2, SHAPE, EMPTY), first);
  });

  test("that have grown a little are kept as they are", () => {
    for (const [pages, kept] of [
      [16, true],
      [17, false],
    ] as const) {
      const places = new Places();
      const grown = places.take(1, SHAPE, EMPTY);
      (grown.memory as unknown as { grow(pages: number): void }).grow(pages);
      places.give(grown);
      assert.equal(places.take(1, SHAPE, EMPTY) === grown, kept);
    }
  });

  test("that have grown much are given up", () => {
    const places = new Places();
    const grown = places.take(1, SHAPE, EMPTY);
    (grown.memory as unknown as { grow(pages: number): void }).grow(200);
    places.give(grown);
    assert.equal(places.take(1, SHAPE, EMPTY).memory.buffer.byteLength, SHAPE.initial * PAGE);
  });

  test("that have grown are given up when they are too large to be wiped quickly, whatever the module asked for", () => {
    const places = new Places();
    const shape = { initial: 129, maximum: 400 };
    const image = emptySnapshot(shape.initial);
    const large = places.take(1, shape, image);
    places.give(large);
    assert.notEqual(places.take(1, shape, image), large);
  });

  test("that can't be had are an error of their own", () =>
    assert.throws(() => new Places().take(1, { initial: 70_000, maximum: 70_000 }, emptySnapshot(70_000)), {
      name: "GuestMemoryError",
    }));

  test("are kept up to a bounded number of bytes, but for the last one", () => {
    const places = new Places();
    const shape = { initial: 1_500, maximum: 2_000 };
    const image = imageOf(shape.initial, [{ at: 0, bytes: Buffer.from("large") }]);
    const first = places.take(0, shape, image);
    places.give(first);
    const second = places.take(1, shape, image);
    places.give(second);
    assert.equal(places.take(1, shape, image), second);
    places.give(second);
    assert.notEqual(places.take(0, shape, image), first);
  });

  test("are kept for a bounded number of modules", () => {
    const places = new Places();
    const first = places.take(0, SHAPE, EMPTY);
    places.give(first);
    for (let module = 1; module <= 16; module++) places.give(places.take(module, SHAPE, EMPTY));
    assert.notEqual(places.take(0, SHAPE, EMPTY), first);
  });
});
