/** Modules that could never be asked are refused when they are loaded, whatever their protocol. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ModuleStore } from "../../../src/wasm/module/prepare.js";
import type { ExecutionMode } from "../../../src/wasm/run/guest/call.js";
import { file } from "../support.js";
import { bytesOf } from "../wat.js";

const PAGES = 1024;
const store = new ModuleStore();
const prepare = (text: string, mode?: ExecutionMode) => store.prepare(bytesOf(`(module ${text})`), PAGES, mode);

const END = "; build it as such a policy, or say with executionMode what else it is";
const EXTISM = `(import "extism:host/env" "input_length" (func (result i64)))`;
const WAPC = `(import "wapc" "__guest_response" (func (param i32 i32)))`;
const WASI = `(import "wasi_snapshot_preview1" "sched_yield" (func (result i32)))`;
const REGO_MEMORY = `(import "env" "memory" (memory 2))`;
const MEMORY = `(memory (export "memory") 1)`;
/** Every export of a Rego module but `eval`. */
const REGO = [
  `"opa_eval_ctx_new") (result i32) (i32.const 0)`,
  `"opa_eval_ctx_set_input") (param i32 i32)`,
  `"opa_eval_ctx_set_data") (param i32 i32)`,
  `"opa_eval_ctx_set_entrypoint") (param i32 i32)`,
  `"opa_eval_ctx_get_result") (param i32) (result i32) (i32.const 0)`,
  `"opa_heap_ptr_get") (result i32) (i32.const 0)`,
  `"opa_heap_ptr_set") (param i32)`,
  `"opa_malloc") (param i32) (result i32) (i32.const 0)`,
  `"opa_json_parse") (param i32 i32) (result i32) (i32.const 0)`,
  `"opa_json_dump") (param i32) (result i32) (i32.const 0)`,
  `"builtins") (result i32) (i32.const 0)`,
]
  .map((rest) => `(func (export ${rest})`)
  .join("\n");
const EVAL = `(func (export "eval") (param i32) (result i32) (i32.const 0))`;

describe("exports that a protocol calls", () => {
  const refused: [what: string, text: string, mode: ExecutionMode | undefined, message: string][] = [
    [
      "an Extism plugin for something else",
      `${EXTISM} ${MEMORY} (func (export "count_vowels") (result i32) (i32.const 0))`,
      undefined,
      `the module was taken for extism and lacks what a policy of this kind is called by: the function validate of type () -> i32 (it exports count_vowels)${END}`,
    ],
    [
      "an Extism plugin whose validate takes parameters",
      `${EXTISM} ${MEMORY} (func (export "validate") (param i32 i64) (result i32) (i32.const 0))`,
      undefined,
      `the module was taken for extism and exports with another type than is called: validate is (i32 i64) -> i32 and should be () -> i32${END}`,
    ],
    [
      "an Extism plugin whose validate_settings takes parameters",
      `${EXTISM} (func (export "validate")) (func (export "validate_settings") (param i32))`,
      undefined,
      `the module was taken for extism and exports with another type than is called: validate_settings is (i32) -> () and should be () -> i32${END}`,
    ],
    [
      "an Extism plugin that exports a global in place of the function",
      `${EXTISM} (global (export "validate") i32 (i32.const 0))`,
      undefined,
      `the module was taken for extism and lacks what a policy of this kind is called by: the function validate of type () -> i32 (it exports no function)${END}`,
    ],
    [
      "an Extism plugin for WASI without memory",
      `${WASI} (func (export "validate"))`,
      undefined,
      `the module was taken for extism and lacks what a policy of this kind is called by: a memory${END}`,
    ],
    [
      "a waPC guest without its function and memory",
      WAPC,
      undefined,
      `the module was taken for kubewarden-wapc and lacks what a policy of this kind is called by: the function __guest_call of type (i32 i32) -> i32, a memory (it exports no function)${END}`,
    ],
    [
      "a waPC guest whose function is of another type",
      `${WAPC} ${MEMORY} (func (export "__guest_call") (param i32) (result i32) (i32.const 0))`,
      undefined,
      `the module was taken for kubewarden-wapc and exports with another type than is called: __guest_call is (i32) -> i32 and should be (i32 i32) -> i32${END}`,
    ],
    [
      "a WASI reactor",
      `${WASI} ${MEMORY} (func (export "_initialize"))`,
      "wasi",
      `the module was taken for wasi and lacks what a policy of this kind is called by: the function _start of type () -> () (it exports _initialize)${END}`,
    ],
    [
      "a WASI command without memory",
      `${WASI} (func (export "_start"))`,
      undefined,
      `the module was taken for wasi and lacks what a policy of this kind is called by: a memory${END}`,
    ],
    [
      "a Rego module without its evaluation, and with a memory of its own",
      `${MEMORY} ${REGO}`,
      "gatekeeper",
      `the module was taken for gatekeeper and lacks what a policy of this kind is called by: the function eval of type (i32) -> i32, the import env.memory (it exports opa_eval_ctx_new, opa_eval_ctx_set_input, opa_eval_ctx_set_data, opa_eval_ctx_set_entrypoint, opa_eval_ctx_get_result, opa_heap_ptr_get, opa_heap_ptr_set, opa_malloc and 3 more)${END}`,
    ],
    [
      "a Rego module whose evaluation is of another type",
      `${REGO_MEMORY} ${REGO} (func (export "eval") (result i32) (i32.const 0))`,
      "opa",
      `the module was taken for opa and exports with another type than is called: eval is () -> i32 and should be (i32) -> i32${END}`,
    ],
  ];
  for (const [what, text, mode, message] of refused)
    test(`${what} is refused`, () => assert.rejects(prepare(text, mode), { code: "wasm-exports", message }));

  test("are enough", async () => {
    await prepare(`${EXTISM} (func (export "validate"))`);
    await prepare(`${EXTISM} (func (export "validate") (result i64) (i64.const 0))`);
    await prepare(`${WAPC} (memory 1) (func (export "__guest_call") (param i32 i32) (result i32) (i32.const 0))`);
    await prepare(`${WASI} (memory 1) (func (export "_start"))`);
    await prepare(`${REGO_MEMORY} ${REGO} ${EVAL}`, "opa");
  });

  test("may be imported functions, and stand behind types of garbage collection", async () => {
    const gc = `(rec (type $list (sub (struct (field (mut i8)) (field (ref null $list))))) (type (array (mut i16))) (type $tag (func (param (ref $list)))))`;
    if (Number(process.versions.node.split(".")[0]) >= 22)
      await assert.rejects(prepare(`${gc} ${EXTISM} (func (export "validate") (param f64))`), { code: "wasm-exports" });
    await assert.rejects(
      prepare(`(import "extism:host/env" "error_set" (func $f (param i64))) (export "validate" (func $f))`),
      { message: /validate is \(i64\) -> \(\) and should be/ },
    );
  });

  test("of the policies and guests of this repository are there", async () => {
    for (const path of [
      "policies/order-limit",
      "policies/add-label",
      "policies/privileged-pods",
      "policies/trusted-registries",
    ])
      await store.prepare(file(`${path}/policy.wasm`), PAGES);
  });

  test("a memory can be imported by Rego modules only", () =>
    assert.rejects(prepare(`${REGO_MEMORY} ${EXTISM} (func (export "validate"))`), {
      code: "wasm-imports",
      message: "the module imports what an extism policy is not given: env.memory (a memory)",
    }));
});
