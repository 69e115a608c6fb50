/** Plugins written in the test that needs them. */
import { bytesOf } from "../../wat.js";

/** Compiles a module in the text format. `body` follows imports of the functions it names as `$alloc`, `$load_u64` and so on. */
export function assemble(body: string): WebAssembly.Module {
  const used = IMPORTS.filter(([name]) => body.includes(`$${name}`));
  const imports = used.map(
    ([name, type, module = "extism:host/env"]) => `(import "${module}" "${name}" (func $${name} ${type}))`,
  );
  return new WebAssembly.Module(bytesOf(`(module ${imports.join("\n")} ${body} (memory (export "memory") 1))`));
}

const IMPORTS: readonly [name: string, type: string, module?: string][] = [
  ["alloc", "(param i64) (result i64)"],
  ["length", "(param i64) (result i64)"],
  ["free", "(param i64)"],
  ["load_u64", "(param i64) (result i64)"],
  ["store_u8", "(param i64 i32)"],
  ["store_u64", "(param i64 i64)"],
  ["input_offset", "(result i64)"],
  ["input_length", "(result i64)"],
  ["output_set", "(param i64 i64)"],
  ["error_set", "(param i64)"],
  ["log_info", "(param i64)"],
  ["log_error", "(param i64)"],
  ["get_log_level", "(result i32)"],
  ["config_get", "(param i64) (result i64)"],
  ["var_set", "(param i64 i64)"],
  ["http_request", "(param i64 i64) (result i64)"],
  ["http_status_code", "(result i32)"],
  ["http_headers", "(result i64)"],
  ["host_call", "(param i64 i64 i64) (result i64)", "extism:host/user"],
  ["proc_exit", "(param i32)", "wasi_snapshot_preview1"],
];
