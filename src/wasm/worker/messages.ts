/** What the main thread and a worker thread say to each other. One worker runs one call at a time. */
import type { HostAnswer } from "../../host-capabilities/host.js";
import type { GuestLimits } from "../limits.js";

/** How a module wants to be talked to. The names are those of the metadata section, and `extism` beside them. */
export type ExecutionMode = "extism" | "kubewarden-wapc" | "wasi" | "opa" | "gatekeeper";

/**
 * What a guest is asked: about an admission request, or any JSON (which the guest knows as `validate` too); its settings, a call for which WASI policies have
 * a name of their own; Rego modules for the builtins they lack; Extism modules without a check of settings for no more than their start.
 */
export type GuestOperation =
  | "validate"
  | "validate-raw"
  | "validate_settings"
  | "validate-settings"
  | "missing-builtins"
  | "start";

/** One question to a guest. */
export interface GuestCall {
  readonly operation: GuestOperation;
  /** The payload as JSON text. */
  readonly input: string;
  /** The data document of a Rego module, or the environment of an Extism plugin, as JSON text. */
  readonly data?: string;
}

/** Sizes of a memory, in pages. */
export interface GuestMemory {
  readonly initial: number;
  readonly maximum: number;
}

/** A module of an Extism plugin that others of the plugin import from, by its name. */
export interface LinkedModule {
  readonly name: string;
  readonly module: WebAssembly.Module;
}

/** A compiled module as workers know it. */
export interface GuestModule {
  readonly id: number;
  readonly module: WebAssembly.Module;
  readonly mode: ExecutionMode;
  /** The memory that the module wants from its host, when it has none of its own. */
  readonly importedMemory?: GuestMemory;
  /** What an Extism plugin has beside its main module. */
  readonly linked?: readonly LinkedModule[];
}

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

/** Why a call gave no answer. */
export type GuestFailure =
  /** The guest reported an error in its protocol's way, or ended with an exit code. */
  | { readonly kind: "guest-error"; readonly text: string }
  /** A trap, a stack overflow, or a failing host function. */
  | { readonly kind: "trap"; readonly text: string }
  /** The host has no memory left for another instance. */
  | { readonly kind: "out-of-memory"; readonly text: string }
  /** The instance could not be made or initialised. */
  | { readonly kind: "start-failed"; readonly text: string }
  /** A limit was passed; `text` says which. */
  | { readonly kind: "limit"; readonly text: string };

/** What came of a call, as the worker saw it. The answer to a review has been read: the text is its outcome's (`outcome-text.ts`). */
export type GuestResult = { readonly kind: "answer"; readonly text: string } | GuestFailure;

/** From the worker: the text of a result that is too large for the mailbox. */
export interface ContentMessage {
  readonly type: "content";
  readonly ticket: number;
  readonly content: Uint8Array | string;
}

/** From the worker: the guest asks the host; the worker sleeps on the control block until the answer is posted. */
export interface HostCallMessage {
  readonly type: "host-call";
  readonly ticket: number;
  readonly binding: string;
  readonly namespace: string;
  readonly operation: string;
  readonly payload: Uint8Array;
}

/** From the worker: a line the guest wants logged; nobody waits for it. */
export interface LogMessage {
  readonly type: "log";
  readonly ticket: number;
  readonly level: GuestLogLevel;
  readonly text: string;
  /** `policy` for the guest's own log calls, `event` for a `tracing/log` payload (spec kubewarden.md 7.3), `output` for what it prints. */
  readonly source: "policy" | "event" | "output";
}

export type GuestLogLevel = "trace" | "debug" | "info" | "warn" | "error";

export type FromWorker =
  | ContentMessage
  | HostCallMessage
  | LogMessage
  /** There are results in the mailbox. */
  | { readonly type: "signal" }
  /** Ready for the first call, or again after an interruption; with the operating system's id of the thread, where it can be had. */
  | { readonly type: "ready"; readonly taskId?: number };

export type { HostAnswer };

/** What a new worker is given. */
export interface WorkerStart {
  readonly control: SharedArrayBuffer;
  readonly mailbox: SharedArrayBuffer;
  /** Kinds of guests whose code is to be loaded before the first call, whose time limit would else pay for it. */
  readonly modes: readonly ExecutionMode[];
}
