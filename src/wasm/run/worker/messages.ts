/** Messages between the main thread and a worker thread. One worker runs one call at a time. */

import type { GuestLimits } from "../../limits.js";
import type {
  Ended,
  ExecutionMode,
  GuestCall,
  GuestModule,
  GuestResult,
  HostAnswer,
  HostQuestion,
  LogLine,
} from "../guest/call.js";
import type { MomentParts } from "../guest/moment.js";
import type { FoundStart } from "../snapshot/start-report.js";
import type { ThreadAllowance } from "./thread-budget.js";

/** To the worker, before the first call of a module. */
export interface ModuleMessage {
  readonly type: "module";
  readonly module: GuestModule;
  readonly limits: GuestLimits;
}

/** To an idle worker: run this call. */
export interface CallMessage extends ThreadAllowance {
  readonly type: "call";
  readonly moduleId: number;
  readonly call: GuestCall;
  /** Time and random numbers of another run of the same call. */
  readonly moment?: MomentParts;
}

export type ToWorker =
  | ModuleMessage
  | CallMessage
  /** This module will not be used again soon. */
  | { readonly type: "forget"; readonly moduleId: number }
  /** To the worker that sleeps in a host call. */
  | { readonly type: "answer"; readonly ticket: number; readonly answer: HostAnswer };

/** From the worker: the call is over, and the next one may come. */
export interface ResultMessage {
  readonly type: "result";
  readonly ticket: number;
  readonly result: GuestResult | Ended;
  /** Milliseconds for which the call has computed. */
  readonly computedMs: number;
}

/** From the worker: a host call of the guest; the worker sleeps on the control block until the answer is posted. */
export interface HostCallMessage extends HostQuestion {
  readonly type: "host-call";
  readonly ticket: number;
}

/** From the worker: a line the guest wants logged; it has no answer. */
export interface LogMessage extends LogLine {
  readonly type: "log";
  readonly ticket: number;
}

/** From the worker: the state from which the policy's instances can start. */
export interface StateMessage {
  readonly type: "state";
  readonly ticket: number;
  readonly found: FoundStart;
}

/** From the worker about its call. */
export type CallReport = ResultMessage | StateMessage | HostCallMessage | LogMessage;

export type FromWorker = CallReport /** Ready for the first call. */ | { readonly type: "ready" };

/** Data of a new worker. */
export interface WorkerStart {
  readonly control: SharedArrayBuffer;
  readonly shares: SharedArrayBuffer;
  /** Kinds of guests whose code is loaded before the first call, so that its time limit does not include that. */
  readonly modes: readonly ExecutionMode[];
}
