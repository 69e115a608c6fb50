/** The interface between the worker's loop and the guest protocols: what a protocol gets, and what it must do. */
import type { GuestLimits } from "../limits.js";
import type { GuestCall, GuestLogLevel, GuestResult, HostAnswer, LogMessage } from "./messages.js";

/** What the host offers to the guest of one call; every method counts against the call's limits. */
export interface GuestHost {
  readonly limits: GuestLimits;
  /** Asks the main thread and blocks until it answers. */
  call(binding: string, namespace: string, operation: string, payload: Uint8Array): HostAnswer;
  /** Passes a line to the log without waiting. */
  log(level: GuestLogLevel, text: string, source: LogMessage["source"]): void;
  /** Says that the instance is initialised and the call begins. */
  enterCall(): void;
  /** Keeps what the guest writes to standard error. */
  stderr(bytes: Uint8Array): void;
  /** All of standard error so far. */
  stderrText(): string;
  /** Blocks for a guest that sleeps; the thread stays killable meanwhile. */
  sleep(milliseconds: number): void;
}

/** Runs one call in a fresh instance. A trap may be thrown; the loop turns it into a result. */
export type RunGuest = (
  module: WebAssembly.Module,
  call: GuestCall,
  host: GuestHost,
  /** The memory that the module wants from its host, all zeros. */
  memory?: WebAssembly.Memory,
) => GuestResult | Promise<GuestResult>;

/** A guest passed one of its limits; ends the call. */
export class GuestLimitError extends Error {
  override readonly name = "GuestLimitError";
}

/** The instance could not be made or initialised; ends the call. */
export class GuestStartError extends Error {
  override readonly name = "GuestStartError";
}
