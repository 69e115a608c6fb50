/** A module that ends before it is asked is refused at load; nobody has to send it a request to find out. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { admission, context, testRuntime } from "./support.js";
import { bytesOf } from "./wat.js";

const EXIT = `(import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))`;
const EXTISM = `(memory (export "memory") 1) (func (export "validate") (unreachable))`;
const WAPC = `(memory 1) (func (export "__guest_call") (param i32 i32) (result i32) (unreachable))`;
const WASI = `(memory 1) (func (export "_start"))`;

describe("a module that ends at its start", () => {
  const { runtime } = testRuntime({ workers: 1 });
  after(() => runtime.close());
  const load = (text: string) =>
    runtime.load({ id: "ended", bytes: bytesOf(`(module ${EXIT} ${text})`), settings: {} });

  const refused: [what: string, text: string, where: string][] = [
    [
      "Extism, by exit in _initialize",
      `${EXTISM} (func (export "_initialize") (call $exit (i32.const 0)))`,
      "function _initialize: exit status 0",
    ],
    ["Extism, by a trap in _start", `${EXTISM} (func (export "_start") (unreachable))`, "function _start: unreachable"],
    ["Extism, in its start section", `${EXTISM} (start $s) (func $s (unreachable))`, "start section: unreachable"],
    [
      "waPC, by exit in _start",
      `${WAPC} (func (export "_start") (call $exit (i32.const 3)))`,
      "function _start: exit status 3",
    ],
    [
      "waPC, by a trap in wapc_init",
      `${WAPC} (func (export "wapc_init") (unreachable))`,
      "function wapc_init: unreachable",
    ],
    [
      "WASI, in its start section",
      `${WASI} (start $s) (func $s (call $exit (i32.const 0)))`,
      "start section: exit status 0",
    ],
  ];
  for (const [what, text, where] of refused)
    test(what, () =>
      assert.rejects(load(text), {
        code: "wasm-start",
        message: `the policy could not be started: the module ends in its ${where}`,
      }),
    );

  test("by status 0 in _start has a trap of its next call explained", async () => {
    const ends = `(func (export "_start") (call $exit (i32.const 0)))`;
    const outcome = await (await load(`${EXTISM} ${ends}`)).evaluate(admission({}), context());
    const because = "unreachable, after the module had ended in its function _start by exit status 0";
    assert.deepEqual(outcome, {
      verdict: "error",
      cause: "trap",
      message: `internal server error: Guest call failure: ${because}`,
    });
    await assert.rejects(load(`${WAPC} ${ends}`), { code: "wasm-settings", message: new RegExp(`${because}$`) });
  });
});
