import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { LineReader } from "../../src/data/line-reader.js";

/** Bytes that count how many of them are searched. */
class CountedBytes extends Uint8Array {
  static searched = 0;
  override indexOf(byte: number, from = 0): number {
    const found = super.indexOf(byte, from);
    CountedBytes.searched += (found < 0 ? this.length : found + 1) - from;
    return found;
  }
}

describe("lines of bytes", () => {
  test("come whole however they are cut", () => {
    const text = "first\n\nthird ü\nlast";
    const bytes = Buffer.from(text);
    for (let size = 1; size <= bytes.length; size++) {
      const reader = new LineReader();
      const lines: string[] = [];
      for (let at = 0; at < bytes.length; at += size)
        for (const line of reader.push(bytes.subarray(at, at + size))) lines.push(String(line));
      assert.equal(reader.pending, 4);
      assert.deepEqual([...lines, String(reader.take())], text.split("\n"), `in pieces of ${size}`);
    }
  });

  test("are searched once: a long line in small chunks takes as many looks as it has bytes", () => {
    const reader = new LineReader();
    const chunks = 20_000;
    CountedBytes.searched = 0;
    for (let i = 0; i < chunks; i++) assert.equal([...reader.push(new CountedBytes(64).fill(0x61))].length, 0);
    const [line] = reader.push(CountedBytes.from([0x0a]));
    assert.equal(line?.length, chunks * 64);
    assert.equal(CountedBytes.searched, chunks * 64 + 1);
  });
});
