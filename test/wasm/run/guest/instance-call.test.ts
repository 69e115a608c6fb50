/** The call that host functions find. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CurrentCall } from "../../../../src/wasm/run/guest/instance-call.js";

test("a call is found while it runs, and no longer", () => {
  const current = new CurrentCall<object>();
  const call = {};
  assert.throws(current.get, /no call is under way/);
  current.during(call, () => {
    assert.equal(current.get(), call);
  });
  assert.throws(current.get, /no call is under way/);
});
