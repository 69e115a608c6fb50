import assert from "node:assert/strict";
import { test } from "node:test";
import { Collected } from "../../src/fetch/byte-sink.js";

const text = (collected: Collected): string => collected.bytes.toString();

test("what is announced comes into one buffer of that size, and may be less", () => {
  const collected = new Collected();
  collected.begin(5);
  collected.take(Buffer.from("abc"));
  const { buffer } = collected.bytes;
  assert.equal(buffer.byteLength, 5);
  assert.equal(text(collected), "abc");
  collected.take(Buffer.from("de"));
  assert.equal(collected.bytes.buffer, buffer);
  assert.equal(text(collected), "abcde");
  assert.throws(() => collected.take(Buffer.from("f")), /more bytes come than were announced/);
});

test("what is not announced is put together, and nobody else's buffer is kept", () => {
  const collected = new Collected();
  collected.begin(undefined);
  const piece = Buffer.from("abc");
  collected.take(piece);
  piece.fill("x");
  collected.take(Buffer.from("de"));
  assert.equal(text(collected), "abcde");
});
