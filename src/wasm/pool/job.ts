import type { GuestCall, GuestModule, GuestResult, HostAnswer } from "../guest/call.js";
import type { GuestLimits } from "../limits.js";
import type { Phase } from "../worker/control-block.js";
import type { ContentMessage, HostCallMessage, LogMessage } from "../worker/messages.js";

/** What to run, for whom, and for how long. */
export interface Job {
  /** The policy's id; another one for checks of its settings. Calls of different keys take turns. */
  readonly key: string;
  readonly module: GuestModule;
  readonly call: GuestCall;
  readonly limits: GuestLimits;
  /** The module checks its settings as it is loaded: no request waits for it, and it tells nothing about requests. */
  readonly isCheck?: boolean;
  /** Milliseconds the call may take once it runs; absent: no limit of its own. */
  readonly timeoutMs?: number;
  /** When the caller stops waiting, on the pool's clock; waiting for a worker counts. */
  readonly deadline: number;
  /** Whether nobody waits for the result any more. A call that waits, for a worker or the host, is then dropped, one that has run for a while stopped. */
  readonly isAborted?: () => boolean;
  /** Answers a host call; the signal is aborted when the job has ended meanwhile. */
  readonly onHostCall: (message: HostCallMessage, signal: AbortSignal) => Promise<HostAnswer>;
  readonly onLog: (message: LogMessage) => void;
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
  /** Killed at its time limit, or given up before a worker was free (`waiting`). */
  | { readonly kind: "timeout"; readonly phase: Phase | "waiting"; readonly stderr: string }
  /** The thread died under the guest: out of memory, or a fault of the engine. */
  | ({ readonly kind: "crash" } & ThreadEnd)
  /** Too many calls are waiting already, or the pool is closed. */
  | { readonly kind: "refused"; readonly text: string };

/** A job that waits for a worker. */
export interface Waiting {
  readonly job: Job;
  /** It was broken off to make room, and runs from its beginning again; this happens once. */
  readonly isRerun: boolean;
  /** Messages that had come from it when it was broken off: log lines, which are not passed on again. */
  readonly heard: number;
  readonly settle: (result: JobResult) => void;
}

/** A job in a worker's mailbox. */
export interface Assigned extends Waiting {
  readonly ticket: number;
  /** When its turn came, as far as the main thread knows. */
  started: number;
  /** When it last began to compute: at its start, or with the host's last answer. */
  resumed: number;
  /** Messages that have come from it through the port. */
  messages: number;
  /** A result that did not fit into the mailbox. */
  content?: ContentMessage["content"];
  /** Aborted when the job ends; made with its first host call. */
  killed?: AbortController;
}
