import assert from "node:assert/strict";
import { test } from "node:test";
import { errorText } from "../../src/data/error-text.js";
import { reasonOf } from "../../src/kubernetes/client/errors.js";

test("whatever is thrown has a text", () => {
  assert.deepEqual([new Error("boom"), "boom", 7, undefined, Symbol("s")].map(errorText), [
    "boom",
    "boom",
    "7",
    "undefined",
    "Symbol(s)",
  ]);
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const hostile = [Object.create(null), { toString: 1, valueOf: 1 }, proxy];
  for (const thrown of hostile) {
    assert.equal(typeof errorText(thrown), "string");
    assert.equal(typeof reasonOf(thrown), "string");
  }
});

test("a reason ends in its cause, once", () => {
  const cause = new Error("no route");
  assert.equal(reasonOf(new Error("cannot reach it", { cause })), "cannot reach it: no route");
  assert.equal(reasonOf(new Error("cannot reach it: no route", { cause })), "cannot reach it: no route");
  assert.equal(reasonOf(new Error("", { cause })), "Error: no route");
});
