/** One call of a guest: what it is asked, of which module, and what comes of it. */

import type { Outcome } from "../../../policy/outcome.js";
import type { HostAnswer } from "../../host/host.js";
import type { GuestMemory } from "../../rewrite/binary/types.js";
import type { Floor } from "../../rewrite/floor/floor.js";
import type { MemorySnapshot } from "../../rewrite/snapshot/memory-snapshot.js";
import type { Marking } from "../../rewrite/write-barriers/marking.js";
import type { CapturedState } from "../snapshot/captured-state.js";

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
  | "start"
  | "take-state";

/** One question to a guest. */
export interface GuestCall {
  readonly operation: GuestOperation;
  /** The payload, JSON in UTF-8. */
  readonly input: Uint8Array;
  /** The data document of a Rego module, JSON in UTF-8. */
  readonly data?: Uint8Array;
  /** With `take-state`: the payloads of the neutral requests, see `StateOrder`. */
  readonly neutral?: readonly Uint8Array[];
  /** With `take-state`, see `StateOrder`. */
  readonly longStartUnits?: number;
}

/** A module of an Extism plugin that others of the plugin import from, by its name. */
export interface LinkedModule {
  readonly name: string;
  readonly module: WebAssembly.Module;
}

/** What instances are made of. */
export interface InstanceSource {
  readonly module: WebAssembly.Module;
  /** What an Extism plugin has beside its main module. */
  readonly linked?: readonly LinkedModule[];
  /** Whether all that its code may change of an instance is in memory and numbers, which the host can bring back. */
  readonly isResettable?: boolean;
  /** With which they begin, as their memory does: what ran before it was taken does not run again. */
  readonly state?: CapturedState;
}

/** A compiled module as workers know it. */
export interface GuestModule extends InstanceSource {
  readonly id: number;
  readonly mode: ExecutionMode;
  /** The memory that the module wants from its host, when it has none of its own. */
  readonly importedMemory?: GuestMemory;
  /** What that memory holds when an instance is made. */
  readonly image?: MemorySnapshot;
  /** How its instances mark what they write to; absent: they don't. */
  readonly marking?: Marking;
  /** Below which its code can't write; absent: it can write everywhere. Never on a thread, where a call that needs all of its stack has it. */
  readonly floor?: Floor;
}

/** Why a call gave no answer. */
export type GuestFailure =
  /** The guest reported an error in its protocol's way, or ended with an exit code. */
  | { readonly kind: "guest-error"; readonly text: string }
  /** A trap, a stack overflow, or a failing host function. */
  | {
      readonly kind: "trap";
      readonly text: string;
      /** How large its memory had grown; absent where the host can't see it. */
      readonly memoryBytes?: number;
    }
  /** The host has no memory left for another instance. */
  | { readonly kind: "out-of-memory"; readonly text: string }
  /** The instance could not be made or initialised. */
  | { readonly kind: "start-failed"; readonly text: string }
  /** A limit was passed; `text` says which. */
  | { readonly kind: "limit"; readonly text: string };

/** What came of a call in the thread that ran it. The answer to a review has been read. */
export type RunResult =
  | { readonly kind: "outcome"; readonly outcome: Outcome }
  /** The answer to any other question. */
  | { readonly kind: "answer"; readonly text: string }
  | GuestFailure;

/** The same on its way to another thread: the answer to a review is its outcome's text (`outcome-text.ts`). */
export type GuestResult = { readonly kind: "answer"; readonly text: string } | GuestFailure;

/** Where a guest is: making the instance and its start functions, or in the call itself. */
export type Phase = "start" | "call";

/** The call's budget has ended the guest. */
export interface Ended {
  readonly kind: "ended";
  readonly phase: Phase;
  readonly stderr: string;
}

/** What a guest asks the host. */
export interface HostQuestion {
  readonly binding: string;
  readonly namespace: string;
  readonly operation: string;
  readonly payload: Uint8Array;
}

export type GuestLogLevel = "trace" | "debug" | "info" | "warn" | "error";

/** A line that a guest wants logged. */
export interface LogLine {
  readonly level: GuestLogLevel;
  readonly text: string;
  /** `policy` for the guest's own log calls, `event` for a `tracing/log` payload (spec kubewarden.md 7.3), `output` for what it prints. */
  readonly source: "policy" | "event" | "output";
}

export type { HostAnswer };
