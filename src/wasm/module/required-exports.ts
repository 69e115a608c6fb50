/** Checks at load that a module has the exports that its protocol needs; without them every request would fail. */

import { WasmLoadError } from "../errors.js";
import { exportedFunctionTypes } from "../rewrite/binary/function-types.js";
import type { ExecutionMode } from "../run/guest/call.js";

/** Most names of a module's own exports that a message lists; a Go module has hundreds. */
const LISTED_EXPORTS = 8;

/** A function by its name, and the types that it may have, the usual one first. */
type Required = readonly [name: string, ...types: readonly string[]];

/** An Extism function takes nothing; its status is 0 when it returns none. */
const EXTISM_TYPES = ["() -> i32", "() -> ()", "() -> i64"] as const;

/** Functions of a Rego module that the host calls (spec kubewarden.md 6.5); the setters' results are ignored. */
const REGO: readonly Required[] = [
  ["builtins", "() -> i32"],
  ["eval", "(i32) -> i32", "(i32) -> ()"],
  ["opa_eval_ctx_get_result", "(i32) -> i32"],
  ["opa_eval_ctx_new", "() -> i32"],
  ["opa_eval_ctx_set_data", "(i32 i32) -> ()", "(i32 i32) -> i32"],
  ["opa_eval_ctx_set_entrypoint", "(i32 i32) -> ()", "(i32 i32) -> i32"],
  ["opa_eval_ctx_set_input", "(i32 i32) -> ()", "(i32 i32) -> i32"],
  ["opa_heap_ptr_get", "() -> i32"],
  ["opa_heap_ptr_set", "(i32) -> ()", "(i32) -> i32"],
  ["opa_json_dump", "(i32) -> i32"],
  ["opa_json_parse", "(i32 i32) -> i32"],
  ["opa_malloc", "(i32) -> i32"],
];

/** Functions by which a module passes sets and keys of any kind to its builtins, which JSON lacks; older modules have none of them. */
const REGO_VALUES: readonly Required[] = [
  ["opa_value_dump", "(i32) -> i32"],
  ["opa_value_parse", "(i32 i32) -> i32"],
];

const REQUIRED: Readonly<Record<ExecutionMode, readonly Required[]>> = {
  extism: [["validate", ...EXTISM_TYPES]],
  "kubewarden-wapc": [["__guest_call", "(i32 i32) -> i32"]],
  wasi: [["_start", "() -> ()"]],
  opa: REGO,
  gatekeeper: REGO,
};

/** Optional functions, which must have these types. */
const OPTIONAL: Readonly<Partial<Record<ExecutionMode, readonly Required[]>>> = {
  extism: [["validate_settings", ...EXTISM_TYPES]],
  opa: REGO_VALUES,
  gatekeeper: REGO_VALUES,
};

/** The checked properties of a module. */
export interface CheckedModule {
  readonly bytes: Uint8Array;
  readonly mode: ExecutionMode;
  /** Whether it has a memory, its own or the host's. */
  readonly hasMemory: boolean;
  /** Whether it imports its memory, as Rego modules must. */
  readonly importsMemory: boolean;
  /** Whether it imports functions that read or write its memory: all but Extism's own. */
  readonly usesMemory: boolean;
}

/**
 * Refuses a module that its protocol could not call.
 * @throws WasmLoadError `wasm-exports`, with all missing exports in one message
 */
export function checkExports(module: CheckedModule): void {
  const { mode } = module;
  const exported = exportedFunctionTypes(module.bytes);
  const missing = REQUIRED[mode].filter(([name]) => !exported.has(name));
  const lacks = [...missing.map(described), ...missingMemory(module)];
  const others = [...REQUIRED[mode], ...(OPTIONAL[mode] ?? [])].flatMap((required) => wrongType(required, exported));
  if (lacks.length === 0 && others.length === 0) return;
  const problems = [
    ...(lacks.length > 0 ? [`lacks what a policy of this kind is called by: ${lacks.join(", ")}`] : []),
    ...(others.length > 0 ? [`exports with another type than is called: ${others.join(", ")}`] : []),
  ];
  const has = missing.length > 0 ? ` (it exports ${listed([...exported.keys()])})` : "";
  throw new WasmLoadError(
    "wasm-exports",
    `the module was taken for ${mode} and ${problems.join(", and ")}${has}; build it as such a policy, or say with executionMode what else it is`,
  );
}

const described = ([name, type]: Required): string => `the function ${name} of type ${type}`;

function wrongType([name, ...types]: Required, exported: ReadonlyMap<string, string | undefined>): string[] {
  const type = exported.get(name);
  // The engine decides about a type that is not readable.
  return type === undefined || types.includes(type) ? [] : [`${name} is ${type} and should be ${types[0]}`];
}

function missingMemory({ mode, hasMemory, importsMemory, usesMemory }: CheckedModule): string[] {
  if (mode === "opa" || mode === "gatekeeper") return importsMemory ? [] : ["the import env.memory"];
  return hasMemory || (mode === "extism" && !usesMemory) ? [] : ["a memory"];
}

function listed(names: readonly string[]): string {
  if (names.length === 0) return "no function";
  const shown = names.slice(0, LISTED_EXPORTS).join(", ");
  return names.length > LISTED_EXPORTS ? `${shown} and ${names.length - LISTED_EXPORTS} more` : shown;
}
