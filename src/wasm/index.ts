/** WASM policies: modules of every guest protocol, run in worker threads with limits. */
export { WasmLoadError } from "./errors.js";
export { DEFAULT_GUEST_LIMITS } from "./limits.js";
export { describeModule, type ModuleDescription } from "./module/describe.js";
export { readMetadataOfBytes } from "./module/metadata.js";
export { describeNonModule } from "./module/not-a-module.js";
export { LOG_LEVELS, MAX_VARIABLE_BYTES, type PluginLogLevel, VARIABLE_BYTES } from "./protocols/extism/environment.js";
export type { ExecutionMode } from "./run/guest/call.js";
export { createWasmRuntime, type PluginParts, type WasmRuntime, type WasmRuntimeOptions } from "./runtime.js";
export type { GuestLogEntry, WasmPolicy } from "./wasm-policy.js";
