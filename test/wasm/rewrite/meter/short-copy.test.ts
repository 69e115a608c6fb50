/** Copies in a metered module, which does short ones by itself: what they leave, and where they trap, is what `memory.copy` does. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { METER_MODULE, REFILL } from "../../../../src/wasm/rewrite/meter/helpers.js";
import { meterModule } from "../../../../src/wasm/rewrite/meter/meter.js";
import { bytesOf } from "../../wat.js";
import { verifyMetered } from "./verify.js";

const PAGE = 65_536;
/** Lengths around those at which something else is done, and one that is charged for. */
const LENGTHS = [...Array.from({ length: 70 }, (_, length) => length), 1_024, 1_025, 2_000];
/** The end of all addresses. */
const WRAPPED = 0xffff_ffff;

/** A memory in which the bytes around one another differ. */
const DIFFERENT = Uint8Array.from({ length: PAGE }, (_, at) => (at * 167 + (at >> 8)) & 0xff);

interface Copier {
  readonly memory: WebAssembly.Memory;
  copy(to: number, from: number, length: number): void;
}

const TEXT = `(module (memory (export "memory") 1)
  (func (export "copy") (param i32 i32 i32) (memory.copy (local.get 0) (local.get 1) (local.get 2))))`;

function copierOf(bytes: Uint8Array<ArrayBuffer>): Copier {
  const refill = () => 1_000_000;
  const instance = new WebAssembly.Instance(new WebAssembly.Module(bytes), { [METER_MODULE]: { [REFILL]: refill } });
  return instance.exports as unknown as Copier;
}

/** What a copy leaves, and whether it trapped. */
function left({ memory, copy }: Copier, to: number, from: number, length: number) {
  const bytes = new Uint8Array(memory.buffer);
  bytes.set(DIFFERENT);
  try {
    copy(to, from, length);
    return { trapped: false, bytes: Buffer.from(bytes) };
  } catch (error) {
    assert.ok(error instanceof WebAssembly.RuntimeError);
    return { trapped: true, bytes: Buffer.from(bytes) };
  }
}

describe("a copy in a metered module", () => {
  const plain = bytesOf(TEXT);
  const bytes = meterModule(plain);
  const [theirs, ours] = [copierOf(plain), copierOf(bytes)];

  /** @returns how many copies trapped */
  function compare(places: readonly (readonly [to: number, from: number])[], lengths = LENGTHS): number {
    let trapped = 0;
    for (const [to, from] of places)
      for (const length of lengths) {
        const [expected, found] = [left(theirs, to, from, length), left(ours, to, from, length)];
        const what = `${length} bytes from ${from} to ${to}`;
        assert.equal(found.trapped, expected.trapped, what);
        assert.ok(found.bytes.equals(expected.bytes), what);
        if (found.trapped) trapped++;
      }
    return trapped;
  }

  test("is paid for, and is no instruction of its function", () => {
    assert.equal(verifyMetered(bytes), undefined);
    const functions = Buffer.from(bytes).toString("latin1").split("\xfc\x0a\x00\x00").length - 1;
    assert.equal(functions, 1);
  });

  test("leaves what it copied, also where both overlap", () => {
    const near = [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40];
    const places = near.flatMap((distance) => [[1_000, 1_000 + distance] as const, [1_000 + distance, 1_000] as const]);
    assert.equal(compare(places), 0);
  });

  test("traps beyond the end, and has written nothing then", () => {
    const ends = [0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33].map((before) => PAGE - before);
    const places = ends.flatMap((end) => [[end, 100] as const, [100, end] as const, [end, end - 3] as const]);
    assert.ok(compare(places, LENGTHS.slice(0, 40)) > 500);
  });

  test("traps beyond 4 GiB, where addresses that are added up begin again at 0", () => {
    const ends = [0, 1, 3, 7, 8, 15, 16, 31].map((before) => WRAPPED - before);
    const places = ends.flatMap((end) => [[end, 100] as const, [100, end] as const]);
    const lengths = LENGTHS.slice(1, 40);
    assert.equal(compare(places, lengths), places.length * lengths.length);
  });

  test("is the engine's between two memories", () => {
    const two = bytesOf(`(module (memory $a 1) (memory $b 1)
      (func (export "copy") (memory.copy $a $b (i32.const 0) (i32.const 0) (i32.const 8))))`);
    assert.ok(Buffer.from(meterModule(two)).includes(Buffer.of(0xfc, 0x0a, 0, 1)));
  });

  test("needs none in a module without a memory", () => {
    const none = meterModule(bytesOf(`(module (func (export "f") (nop)))`));
    assert.equal(verifyMetered(none), undefined);
    assert.ok(new WebAssembly.Module(none));
  });
});
