/** Which plugins there are: each module of some folders that is a plugin by itself, and sets of modules that are linked by name. */
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { bytesOf } from "../../wasm/wat.js";

/** A module of a plugin; the main module is `main`. */
export interface PluginModule {
  readonly name: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** A plugin, its main module first. */
export interface Plugin {
  readonly name: string;
  readonly modules: readonly [PluginModule, ...PluginModule[]];
}

/** Stands for what the hosts of Extism's own tests offer to these plugins. */
const HOST = `
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store (param i64 i32)))
  (global $now (mut i64) (i64.const 1000))
  (func (export "hello_world") (param i64) (result i64) (local $b i64)
    (local.set $b (call $alloc (i64.const 2)))
    (call $store (local.get $b) (i32.const 111))
    (call $store (i64.add (local.get $b) (i64.const 1)) (i32.const 107))
    (local.get $b))
  (func (export "get_now_ms") (result i64)
    (global.set $now (i64.add (global.get $now) (i64.const 7)))
    (global.get $now))
  (func (export "notify"))
  (func (export "test") (param i64))`;

/** Where a set takes a module from {@link HOST}. */
const OWN = "own";

/** Sets of Extism's own tests, by the main module; the last two don't fit together, as there. */
const SETS: readonly (readonly [main: string, others: Readonly<Record<string, string>>])[] = [
  ["reflect.wasm", { "extism:host/user": "upper.wasm" }],
  ["circular.wasm", { lhs: "circular-lhs.wasm", rhs: "circular-rhs.wasm" }],
  ["fs-link.wasm", { side: "fs.wasm" }],
  ["code-functions.wasm", { "extism:host/user": OWN }],
  ["sleep.wasm", { "extism:host/user": OWN }],
  ["02-var-reflected.wasm", { user: OWN }],
  ["circular.wasm", { lhs: "circular-lhs.wasm" }],
  ["02-var-reflected.wasm", { user: "var.wasm" }],
];

/** Such modules are parts of sets only. */
const PARTS = /^circular-[lr]hs\.wasm$/;

/** All plugins of these folders. */
export function findPlugins(folders: readonly string[]): readonly Plugin[] {
  return folders.flatMap((folder) => {
    const files = readdirSync(folder)
      .filter((file) => file.endsWith(".wasm"))
      .sort();
    const alone = files.filter((file) => !PARTS.test(file)).map((file) => plugin(folder, file, {}));
    const sets = SETS.filter(([main, others]) =>
      [main, ...Object.values(others)].every((file) => file === OWN || files.includes(file)),
    ).map(([main, others]) => plugin(folder, main, others));
    return [...alone, ...sets];
  });
}

function plugin(folder: string, main: string, others: Readonly<Record<string, string>>): Plugin {
  const read = (name: string, file: string): PluginModule => ({
    name,
    bytes: file === OWN ? bytesOf(`(module ${HOST})`) : new Uint8Array(readFileSync(join(folder, file))),
  });
  const linked = Object.entries(others).map(([name, file]) => read(name, file));
  const parts = Object.entries(others).map(([name, file]) => ` + ${file} as ${name}`);
  return {
    name: `${basename(dirname(folder))}/${basename(folder)}/${main}${parts.join("")}`,
    modules: [read("main", main), ...linked],
  };
}

/** What starts a plugin or belongs to its compiler: nobody calls it. */
const OF_THE_COMPILER = /^(_start|_initialize|hs_init|hs_exit|malloc|free|calloc|realloc|extism_.*|asyncify_.*|__.*)$/;

/** The exports that are called; of a command that exports nothing else its start. @throws WebAssembly.CompileError */
export function operationsOf(bytes: Uint8Array<ArrayBuffer>): readonly string[] {
  const names = WebAssembly.Module.exports(new WebAssembly.Module(bytes))
    .filter(({ kind }) => kind === "function")
    .map(({ name }) => name);
  const called = names.filter((name) => !OF_THE_COMPILER.test(name));
  return called.length > 0 ? called : names.filter((name) => name === "_start");
}

/** Whether the main module imports what sends requests. */
export function asksHttp({ modules: [{ bytes }] }: Plugin): boolean {
  return WebAssembly.Module.imports(new WebAssembly.Module(bytes)).some(({ name }) => name === "http_request");
}

/** Whether it is one of those that are made to run for ever. */
export function loops({ modules: [{ bytes }] }: Plugin): boolean {
  return operationsOf(bytes).some((name) => name.startsWith("loop"));
}
