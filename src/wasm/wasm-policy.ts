import type { Policy } from "../policy/policy.js";
import type { ExecutionMode, GuestLogLevel } from "./run/guest/call.js";
import type { StartReport } from "./run/snapshot/start-report.js";

/** A policy of a module. `implementation` is its execution mode. */
export interface WasmPolicy extends Policy {
  readonly kind: "wasm";
  readonly implementation: ExecutionMode;
  /** `sha256:<hex>` of the module. */
  readonly digest: string;
  /** The start mode of its instances, for `GET /policies`. */
  readonly start: StartReport;
}

/** One line that a guest wrote. */
export interface GuestLogEntry {
  readonly policy: string;
  readonly level: GuestLogLevel;
  readonly message: string;
  /** `request_uid`, if the request has one; of a `tracing/log` event (spec kubewarden.md 7.3) `data`, the JSON text of its other keys. */
  readonly fields: Readonly<Record<string, string>>;
}
