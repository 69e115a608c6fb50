/** What a plugin's function returns, as Extism's runtime 1.41 takes it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { extismRunner } from "../../../../src/wasm/protocols/extism/guest.js";
import { bytesOf } from "../../wat.js";
import { recordingHost } from "./host.js";

const run = extismRunner();
const module = new WebAssembly.Module(
  bytesOf(`(module
    (import "extism:host/env" "error_set" (func $error_set (param i64)))
    (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
    (memory (export "memory") 1)
    (table $objects 1 externref)
    (table $functions 1 funcref)
    (func (export "nothing"))
    (func (export "zero") (result i32) (i32.const 0))
    (func (export "one") (result i32) (i32.const 1))
    (func (export "long") (result i64) (i64.const 0))
    (func (export "single") (result f32) (f32.const 0))
    (func (export "double") (result f64) (f64.const 0))
    (func (export "object") (result externref) (table.get $objects (i32.const 0)))
    (func (export "function") (result funcref) (table.get $functions (i32.const 0)))
    (func (export "two") (result i32 i32) (i32.const 0) (i32.const 0))
    (func (export "asking") (param i32) (result i32) (i32.const 0))
    (func (export "failing") (result i64) (call $error_set (call $alloc (i64.const 1))) (i64.const 0)))`),
);
const answerOf = (operation: string) => run({ module }, { operation, input: Uint8Array.of(1) }, recordingHost());

describe("the status that a plugin's function returns", () => {
  for (const operation of ["nothing", "zero"]) {
    test(`is good where it is 0, or none: ${operation}`, () => {
      for (let again = 0; again < 2; again++) assert.equal(answerOf(operation).kind, "answer");
    });
  }

  for (const operation of ["long", "single", "double", "object", "function", "two", "asking"]) {
    test(`is no status, and a failure, where the function has another type: ${operation}`, () => {
      for (let again = 0; again < 2; again++)
        assert.deepEqual(answerOf(operation), { kind: "guest-error", text: "returned non-zero exit code: -1" });
    });
  }

  test("is told, and an error that was set goes before it", () => {
    assert.deepEqual(answerOf("one"), { kind: "guest-error", text: "returned non-zero exit code: 1" });
    assert.deepEqual(answerOf("failing"), { kind: "guest-error", text: "\0" });
  });
});
