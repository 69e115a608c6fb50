/** Plugins of several modules, beside Extism's own SDK for JavaScript. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createPlugin } from "@extism/extism";
import { extismRunner } from "../../../../src/wasm/protocols/extism/guest.js";
import { bytesOf } from "../../wat.js";
import { recordingHost } from "./host.js";

const HOST = `
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u64" (func $store (param i64 i64)))
  (import "extism:host/env" "output_set" (func $output (param i64 i64)))
  (func $put (param $value i32) (local $b i64)
    (local.set $b (call $alloc (i64.const 8)))
    (call $store (local.get $b) (i64.extend_i32_u (local.get $value)))
    (call $output (local.get $b) (i64.const 8)))`;

type Modules = Readonly<Record<string, string>>;

const compiled = (modules: Modules) =>
  Object.entries(modules).map(([name, text]) => ({
    name,
    module: new WebAssembly.Module(bytesOf(`(module ${text})`)),
  }));

function ours(modules: Modules): string {
  const [main, ...linked] = compiled(modules);
  assert.ok(main);
  const run = extismRunner();
  const once = () => {
    try {
      const answer = run(
        { module: main.module, linked },
        { operation: "run", input: new Uint8Array() },
        recordingHost(),
      );
      return answer.kind === "answer" ? Buffer.from(answer.bytes).toString("hex") : answer.text;
    } catch (error) {
      return (error as Error).message;
    }
  };
  const first = once();
  assert.equal(once(), first, "every call has fresh instances of all modules");
  return first;
}

async function theirs(modules: Modules): Promise<string> {
  try {
    const plugin = await createPlugin({ wasm: compiled(modules) }, { useWasi: true });
    return Buffer.from((await plugin.call("run"))?.bytes() ?? []).toString("hex");
  } catch (error) {
    return (error as Error).message;
  }
}

const number = (value: number) => Buffer.from([value, 0, 0, 0, 0, 0, 0, 0]).toString("hex");

describe("modules of a plugin", () => {
  const SAME: Readonly<Record<string, readonly [modules: Modules, output: string]>> = {
    "call each other, in circles too": [
      {
        main: `(import "lhs" "double" (func $double (param i32) (result i32))) ${HOST}
          (func (export "run") (call $put (call $double (i32.const 1))))`,
        lhs: `(import "rhs" "next" (func $next (param i32) (result i32)))
          (func (export "double") (param $n i32) (result i32)
            (if (result i32) (i32.gt_u (local.get $n) (i32.const 100))
              (then (local.get $n))
              (else (call $next (i32.mul (local.get $n) (i32.const 2))))))`,
        rhs: `(import "lhs" "double" (func $double (param i32) (result i32)))
          (func (export "next") (param $n i32) (result i32) (call $double (i32.add (local.get $n) (i32.const 1))))`,
      },
      number(127),
    ],
    "share a memory and a global": [
      {
        main: `(import "store" "memory" (memory 1)) (import "store" "start" (global $start (mut i32)))
          (import "store" "fill" (func $fill)) ${HOST}
          (func (export "run") (call $fill) (call $put (i32.load8_u (global.get $start))))`,
        store: `(memory (export "memory") 1) (global $start (export "start") (mut i32) (i32.const 5))
          (func (export "fill") (global.set $start (i32.const 9)) (i32.store8 (i32.const 9) (i32.const 42)))`,
      },
      number(42),
    ],
    "are started before those that import from them": [
      {
        main: `(import "lib" "value" (func $value (result i32))) ${HOST}
          (global $seen (mut i32) (i32.const 0))
          (func $start (global.set $seen (call $value)))
          (start $start)
          (func (export "run") (call $put (global.get $seen)))`,
        lib: `(global $value (mut i32) (i32.const 0))
          (func (export "_initialize") (global.set $value (i32.const 7)))
          (func (export "value") (result i32) (global.get $value))`,
      },
      number(7),
    ],
    "are found where the host has a module of that name, too": [
      {
        main: `(import "extism:host/user" "host_call" (func $call (result i32))) ${HOST}
          (func (export "run") (call $put (call $call)))`,
        "extism:host/user": `(func (export "host_call") (result i32) (i32.const 3))`,
      },
      number(3),
    ],
    "use WASI on their own memory": [
      {
        main: `(import "lib" "arguments" (func $arguments (result i32))) ${HOST}
          (memory (export "memory") 1)
          (func (export "_initialize"))
          (func (export "run") (call $put (i32.add (i32.load8_u (i32.const 0)) (call $arguments))))`,
        lib: `(import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
          (memory (export "memory") 1)
          (func (export "_initialize"))
          (func (export "arguments") (result i32)
            (drop (call $random (i32.const 0) (i32.const 64)))
            (i64.ne (i64.const 0) (i64.load (i32.const 0))))`,
      },
      number(1),
    ],
  };
  for (const [what, [modules, output]] of Object.entries(SAME))
    test(what, async () => {
      assert.equal(ours(modules), output);
      assert.equal(await theirs(modules), output);
    });

  test("can't share memories in circles, and the words are the SDK's", async () => {
    const modules = {
      main: `(import "lib" "value" (func $value (result i32))) ${HOST}
        (memory (export "memory") 1) (func (export "run") (call $put (call $value)))`,
      lib: `(import "main" "memory" (memory 1)) (func (export "value") (result i32) (i32.load (i32.const 0)))`,
    };
    const words = /cannot import "main" "memory"; circular imports of type="memory" are not supported$/;
    assert.match(ours(modules), words);
    assert.match(await theirs(modules), words);
  });
});
