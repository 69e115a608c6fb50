/** What the main thread and a worker thread say to each other. One worker runs one call at a time. */
import type { ExecutionMode, GuestModule, HostAnswer, HostQuestion, LogLine } from "../guest/call.js";
import type { GuestLimits } from "../limits.js";

/** To the worker, before the first call of a module. */
export interface ModuleMessage {
  readonly type: "module";
  readonly module: GuestModule;
  readonly limits: GuestLimits;
}

/** To the worker: the payload of a call that is too large for the mailbox. */
export interface PayloadMessage {
  readonly type: "payload";
  readonly ticket: number;
  readonly input: Uint8Array;
  readonly data?: Uint8Array;
}

export type ToWorker =
  | ModuleMessage
  | PayloadMessage
  /** This module won't be asked for again soon. */
  | { readonly type: "forget"; readonly moduleId: number }
  /** To the worker that sleeps in a host call. */
  | { readonly type: "answer"; readonly ticket: number; readonly answer: HostAnswer }
  /** To the worker in its event loop: there is a call in the mailbox; or, after an interruption, go on. */
  | { readonly type: "wake" | "resume" };

/** From the worker: the text of a result that is too large for the mailbox. */
export interface ContentMessage {
  readonly type: "content";
  readonly ticket: number;
  readonly content: Uint8Array | string;
}

/** From the worker: the guest asks the host; the worker sleeps on the control block until the answer is posted. */
export interface HostCallMessage extends HostQuestion {
  readonly type: "host-call";
  readonly ticket: number;
}

/** From the worker: a line the guest wants logged; nobody waits for it. */
export interface LogMessage extends LogLine {
  readonly type: "log";
  readonly ticket: number;
}

export type FromWorker =
  | ContentMessage
  | HostCallMessage
  | LogMessage
  /** There are results in the mailbox. */
  | { readonly type: "signal" }
  /** Ready for the first call, or again after an interruption; with the operating system's id of the thread, where it can be had. */
  | { readonly type: "ready"; readonly taskId?: number };

/** What a new worker is given. */
export interface WorkerStart {
  readonly control: SharedArrayBuffer;
  readonly mailbox: SharedArrayBuffer;
  /** Kinds of guests whose code is to be loaded before the first call, whose time limit would else pay for it. */
  readonly modes: readonly ExecutionMode[];
}
