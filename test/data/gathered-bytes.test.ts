import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { GatheredBytes } from "../../src/data/gathered-bytes.js";

describe("gathered bytes", () => {
  test("are those of all pieces in order, whatever their sizes", () => {
    const sizes = [1, 0, 5000, 1, 1, 4096, 70_000, 3, 1023, 1, 100_000, 2];
    for (let first = 0; first < sizes.length; first++) {
      const gathered = new GatheredBytes();
      const pieces = [...sizes.slice(first), ...sizes.slice(0, first)].map((size, i) => Buffer.alloc(size, i + 1));
      for (const piece of pieces) gathered.add(piece);
      const whole = Buffer.concat(pieces);
      assert.equal(gathered.size, whole.length);
      assert.ok(gathered.take().equals(whole), `beginning with ${sizes[first]}`);
      assert.equal(gathered.size, 0);
      assert.equal(gathered.take().length, 0);
    }
  });

  test("are a million when a million come one by one", () => {
    const gathered = new GatheredBytes();
    for (let i = 0; i < 1_000_000; i++) gathered.add(Buffer.from([i % 251]));
    const whole = gathered.take();
    assert.equal(whole.length, 1_000_000);
    assert.ok(whole.every((byte, i) => byte === i % 251));
  });

  test("hold no small piece, and none that is a small part of something large: what becomes of those changes nothing", () => {
    const gathered = new GatheredBytes();
    const large = Buffer.alloc(100_000, "a");
    const pieces = [Buffer.from("12"), Buffer.alloc(4000, "b"), large.subarray(0, 5000)];
    for (const piece of pieces) gathered.add(piece);
    const whole = Buffer.concat(pieces);
    for (const piece of pieces) piece.fill(0);
    assert.ok(gathered.take().equals(whole));
  });

  test("of one piece are that piece", () => {
    const gathered = new GatheredBytes();
    const piece = Buffer.from("alone");
    gathered.add(piece);
    assert.equal(gathered.take().buffer, piece.buffer);
  });

  test("are forgotten when they are cleared", () => {
    const gathered = new GatheredBytes();
    for (const text of ["a", "b"]) gathered.add(Buffer.from(text));
    gathered.clear();
    gathered.add(Buffer.from("c"));
    assert.equal(String(gathered.take()), "c");
  });
});
