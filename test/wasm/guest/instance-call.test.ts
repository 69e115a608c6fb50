/** The call that host functions find, and what becomes of it when it is broken off. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { extismRunner } from "../../../src/wasm/extism/guest.js";
import { CurrentCall } from "../../../src/wasm/guest/instance-call.js";
import { wapcRunner } from "../../../src/wasm/wapc/guest.js";
import { wasiRunner } from "../../../src/wasm/wasi/guest.js";

test("a call is found while it runs, and no longer", () => {
  const current = new CurrentCall<object>();
  const call = {};
  assert.throws(current.get, /no call is under way/);
  current.during(call, () => {
    assert.equal(current.get(), call);
    // As behind an interruption, which runs no `finally`.
    current.forget();
    assert.throws(current.get, /no call is under way/);
  });
});

test("every kind of guest that may be interrupted can be let go of", () => {
  for (const make of [extismRunner, wapcRunner, wasiRunner]) assert.equal(typeof make().forget, "function");
});
