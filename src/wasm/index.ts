/** WASM policies: modules of every guest protocol, run in worker threads with limits. */
export { WasmLoadError, type WasmLoadErrorCode } from "./errors.js";
export { DEFAULT_GUEST_LIMITS, DEFAULT_TIMEOUT_MS, type GuestLimits } from "./limits.js";
export { type PolicyMetadata, readMetadataOfBytes } from "./module/metadata.js";
export { type Clock, systemClock } from "./pool/clock.js";
export type { PoolStatus } from "./pool/pool.js";
export {
  createWasmRuntime,
  type WasmRuntime,
  type WasmRuntimeOptions,
  type WasmSource,
} from "./runtime.js";
export type { GuestLogEntry, WasmPolicy } from "./wasm-policy.js";
export type { ExecutionMode } from "./worker/messages.js";
