/** One guest call on its way through the pool. */
import type { GuestLimits } from "../limits.js";
import type { Phase } from "../worker/control-block.js";
import type {
  ExecutionMode,
  GuestCall,
  GuestModule,
  GuestResult,
  HostAnswer,
  HostCallMessage,
  LogMessage,
} from "../worker/messages.js";

/** What to run, for whom, and for how long. */
export interface Job {
  /** The policy's id. Calls of different policies take turns. */
  readonly key: string;
  readonly module: GuestModule;
  readonly mode: ExecutionMode;
  readonly call: GuestCall;
  readonly limits: GuestLimits;
  /** Milliseconds the call may take once it runs; absent: no limit of its own. */
  readonly timeoutMs?: number;
  /** When the caller stops waiting, on the pool's clock; waiting for a worker counts. */
  readonly deadline: number;
  /**
   * Aborted when nobody waits for the result any more. A call that still waits for a worker is then dropped, one that runs long is killed; one
   * that runs briefly is cheaper to let end than its thread is to replace.
   */
  readonly signal?: AbortSignal;
  /** Answers a host call; the signal is aborted when the guest has been killed meanwhile. */
  readonly onHostCall: (message: HostCallMessage, signal: AbortSignal) => Promise<HostAnswer>;
  readonly onLog: (message: LogMessage) => void;
}

/** What came of a job. */
export type JobResult =
  | GuestResult
  /** Killed at its time limit, or given up before a worker was free (`waiting`). */
  | { readonly kind: "timeout"; readonly phase: Phase | "waiting"; readonly stderr: string }
  /** The thread died under the guest: out of memory, or a fault of the engine. */
  | { readonly kind: "crash"; readonly text: string }
  /** Too many calls are waiting already, or the pool is closed. */
  | { readonly kind: "refused"; readonly text: string };
