import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { GuestLimitError, GuestStartError } from "../../../src/wasm/guest/guest.js";
import { callStart, newInstance } from "../../../src/wasm/guest/start-functions.js";
import { ExitStatus } from "../../../src/wasm/guest/wasi-preview1.js";
import { bytesOf } from "../wat.js";

const throwing = (error: Error) => () => {
  throw error;
};

describe("start functions", () => {
  test("may be absent, and may return", () => {
    assert.equal(callStart({}, "_start"), false);
    assert.equal(callStart({ _start: () => 1 }, "_start"), false);
  });

  test("may exit with status 0 when they are a command's", () => {
    assert.equal(callStart({ _start: throwing(new ExitStatus(0)) }, "_start"), true);
    for (const [name, status] of [
      ["_start", 1],
      ["_initialize", 0],
      ["wapc_init", 0],
    ] as const)
      assert.throws(
        () => callStart({ [name]: throwing(new ExitStatus(status)) }, name),
        new GuestStartError(`the module ends in its function ${name}: exit status ${status}`),
      );
  });

  test("say where they trap, and leave limits as they are", () => {
    assert.throws(
      () => callStart({ _start: throwing(new Error("unreachable")) }, "_start"),
      new GuestStartError("the module ends in its function _start: unreachable"),
    );
    const limit = new GuestLimitError("too much");
    assert.throws(() => callStart({ _start: throwing(limit) }, "_start"), limit);
  });
});

describe("a start section", () => {
  const module = (body: string) =>
    new WebAssembly.Module(bytesOf(`(module (import "a" "exit" (func $exit)) (start $start) (func $start ${body}))`));

  test("that traps or exits, with whatever status, ends the module", () => {
    assert.throws(
      () => newInstance({ module: module("(unreachable)") }, { a: { exit() {} } }),
      new GuestStartError("the module ends in its start section: unreachable"),
    );
    assert.throws(
      () => newInstance({ module: module("(call $exit)") }, { a: { exit: throwing(new ExitStatus(0)) } }),
      new GuestStartError("the module ends in its start section: exit status 0"),
    );
  });

  test("is not blamed for what the engine refuses", () => {
    assert.throws(() => newInstance({ module: module("(nop)") }, { a: {} }), /^LinkError: WebAssembly\.Instance\(\)/);
  });
});
