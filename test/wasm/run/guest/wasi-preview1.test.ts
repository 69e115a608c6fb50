/** Reading and writing through WASI, at its limits. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { DEFAULT_GUEST_LIMITS } from "../../../../src/wasm/limits.js";
import { CallHost } from "../../../../src/wasm/run/guest/call-host.js";
import { InputQueue, type WasiCall, wasiImports } from "../../../../src/wasm/run/guest/wasi-preview1.js";
import { ENDLESS, NO_SIDE } from "../../support.js";

type Call = (...parameters: number[]) => number;

/** A call whose memory has a list of buffers at 0, each of 4 bytes at 20,000. */
function opened(buffers: number) {
  const memory = new WebAssembly.Memory({ initial: 1 });
  const view = new DataView(memory.buffer);
  for (let index = 0; index < buffers; index++) {
    view.setUint32(index * 8, 20_000, true);
    view.setUint32(index * 8 + 4, 4, true);
  }
  new Uint8Array(memory.buffer).set(Buffer.from("abcd"), 20_000);
  const written: [string, string][] = [];
  const stdin = new InputQueue();
  const call: WasiCall = {
    read: (pointer, length) => new Uint8Array(memory.buffer, pointer, length),
    write: (pointer, length) => new Uint8Array(memory.buffer, pointer, length),
    numbers: () => view,
    writeNumbers: () => view,
    args: [],
    stdin,
    stdout: (bytes) => written.push(["out", Buffer.from(bytes).toString()]),
    stderr: (bytes) => written.push(["err", Buffer.from(bytes).toString()]),
    host: new CallHost(NO_SIDE, DEFAULT_GUEST_LIMITS, ENDLESS),
  };
  const { fd_read, fd_write } = wasiImports(() => call) as unknown as Record<string, Call>;
  assert.ok(fd_read && fd_write);
  const done = () => view.getUint32(30_000, true);
  return {
    stdin,
    written,
    read: fd_read,
    write: fd_write,
    done,
    text: () => Buffer.from(memory.buffer, 20_000, 4).toString(),
  };
}

describe("WASI", () => {
  test("writes to standard output and standard error, and nowhere else", () => {
    const { write, written, done } = opened(2);
    assert.deepEqual([write(1, 0, 2, 30_000), done()], [0, 8]);
    assert.deepEqual([write(2, 0, 1, 30_000), done()], [0, 4]);
    assert.notEqual(write(3, 0, 1, 30_000), 0);
    assert.deepEqual(written, [
      ["out", "abcd"],
      ["out", "abcd"],
      ["err", "abcd"],
    ]);
  });

  test("takes a bounded number of buffers at once", () => {
    const { write, written } = opened(1_025);
    assert.equal(write(1, 0, 1_024, 30_000), 0);
    assert.throws(() => write(1, 0, 1_025, 30_000), { name: "GuestLimitError" });
    assert.throws(() => write(1, 0, -1, 30_000), { name: "GuestLimitError" });
    assert.equal(written.length, 1_024);
  });

  test("reads standard input in order, each byte once", () => {
    const { read, stdin, done, text } = opened(1);
    for (const part of ["12", "345", "6"]) stdin.push(Buffer.from(part));
    assert.deepEqual([read(0, 0, 1, 30_000), done(), text()], [0, 4, "1234"]);
    assert.deepEqual([read(0, 0, 1, 30_000), done(), text().slice(0, 2)], [0, 2, "56"]);
    assert.deepEqual([read(0, 0, 1, 30_000), done()], [0, 0]);
    assert.notEqual(read(1, 0, 1, 30_000), 0);
  });
});
