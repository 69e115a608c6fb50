import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { LineReader } from "../../src/data/line-reader.js";

/** A buffer that counts how many of its bytes are searched. */
function counted(bytes: Buffer, searched: (bytes: number) => void): Buffer {
  const own = bytes.indexOf.bind(bytes);
  return Object.assign(bytes, {
    indexOf: (byte: number, from = 0): number => {
      const found = own(byte, from);
      searched((found < 0 ? bytes.length : found + 1) - from);
      return found;
    },
  });
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
      assert.deepEqual(
        [...lines, String(reader.take())],
        ["first\n", "\n", "third ü\n", "last"],
        `in pieces of ${size}`,
      );
    }
  });

  test("are searched once: a long line in small chunks takes as many looks as it has bytes", () => {
    const reader = new LineReader();
    const chunks = 20_000;
    let searched = 0;
    const push = (text: string): Buffer[] => [
      ...reader.push(
        counted(Buffer.from(text), (bytes) => {
          searched += bytes;
        }),
      ),
    ];
    for (let i = 0; i < chunks; i++) assert.equal(push("a".repeat(64)).length, 0);
    const [line] = push("\n");
    assert.equal(line?.length, chunks * 64 + 1);
    assert.equal(searched, chunks * 64 + 1);
  });
});
