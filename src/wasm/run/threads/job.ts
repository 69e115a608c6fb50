import type { GuestLimits } from "../../limits.js";
import type { GuestCall, GuestModule, GuestResult, HostAnswer, Phase } from "../guest/call.js";
import type { MomentParts } from "../guest/moment.js";
import type { FoundStart } from "../snapshot/start-report.js";
import type { HostCallMessage, LogMessage } from "../worker/messages.js";

/** A call to run, with its key and limits. */
export interface Job {
  /** The policy's id, or the key of checks of its settings (`history.ts`). Calls of different keys take turns. */
  readonly key: string;
  readonly module: GuestModule;
  readonly call: GuestCall;
  readonly limits: GuestLimits;
  /** Whether the module checks its settings at load: no request waits for it, and it says nothing about requests. */
  readonly isCheck?: boolean;
  /** Milliseconds the call may take once it runs; absent: no limit of its own. */
  readonly timeoutMs?: number;
  /** The time at which the caller stops waiting, on the pool's clock; waiting for a thread counts. */
  readonly deadline: number;
  /** Whether the result is no longer needed. A call that waits, for a thread or the host, is then dropped, and one that has run for a while is ended. */
  readonly isAborted?: () => boolean;
  /** Answers a host call; the signal is aborted when the job has ended meanwhile. */
  readonly onHostCall: (message: HostCallMessage, signal: AbortSignal) => Promise<HostAnswer>;
  /** Receives the result of the operation `take-state`. */
  readonly onState?: (found: FoundStart) => void;
  readonly onLog: (message: LogMessage) => void;
  /** Time and random numbers of another run of the same call. */
  readonly moment?: MomentParts;
  /** Receives the milliseconds of computing when the guest has ended by itself. */
  readonly onComputed?: (milliseconds: number) => void;
}

/** The reason why a thread has ended by itself. */
export interface ThreadEnd {
  readonly text: string;
  /** Its JavaScript heap was full. */
  readonly outOfMemory: boolean;
  /** The full reason for the log, where `text` is general. */
  readonly whole?: string;
}

/** The result of a job. */
export type JobResult =
  | GuestResult
  /** Ended at its time limit, or given up before a thread was free (`waiting`). */
  | { readonly kind: "timeout"; readonly phase: Phase | "waiting"; readonly stderr: string }
  /** The thread died under the guest: out of memory, or a fault of the engine. */
  | ({ readonly kind: "crash" } & ThreadEnd)
  /** Too many calls are waiting already, or the pool is closed. */
  | { readonly kind: "refused"; readonly text: string };

/** A job that waits for a thread. */
export interface Waiting {
  readonly job: Job;
  readonly settle: (result: JobResult) => void;
}
