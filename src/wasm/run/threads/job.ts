import type { GuestLimits } from "../../limits.js";
import type { GuestCall, GuestModule, GuestResult, HostAnswer, Phase } from "../guest/call.js";
import type { MomentParts } from "../guest/moment.js";
import type { FoundStart } from "../snapshot/start-report.js";
import type { HostCallMessage, LogMessage } from "../worker/messages.js";

/** What to run, for whom, and for how long. */
export interface Job {
  /** The policy's id, or the key of checks of its settings (`history.ts`). Calls of different keys take turns. */
  readonly key: string;
  readonly module: GuestModule;
  readonly call: GuestCall;
  readonly limits: GuestLimits;
  /** The module checks its settings as it is loaded: no request waits for it, and it tells nothing about requests. */
  readonly isCheck?: boolean;
  /** Milliseconds the call may take once it runs; absent: no limit of its own. */
  readonly timeoutMs?: number;
  /** When the caller stops waiting, on the pool's clock; waiting for a thread counts. */
  readonly deadline: number;
  /** Whether the result is not wanted any more. A call that waits, for a thread or the host, is then dropped, one that has run for a while ended. */
  readonly isAborted?: () => boolean;
  /** Answers a host call; the signal is aborted when the job has ended meanwhile. */
  readonly onHostCall: (message: HostCallMessage, signal: AbortSignal) => Promise<HostAnswer>;
  /** Takes what was found with the operation `take-state`. */
  readonly onState?: (found: FoundStart) => void;
  readonly onLog: (message: LogMessage) => void;
  /** What another run of the same call has seen of time and chance. */
  readonly moment?: MomentParts;
  /** Told when the guest has ended by itself: for how many milliseconds it has computed. */
  readonly onComputed?: (milliseconds: number) => void;
}

/** Why a thread has ended by itself. */
export interface ThreadEnd {
  readonly text: string;
  /** Its JavaScript heap was full. */
  readonly outOfMemory: boolean;
  /** All that is known where `text` is general words, for the log. */
  readonly whole?: string;
}

/** What came of a job. */
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
