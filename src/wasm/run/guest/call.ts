/** One call of a guest: its question, its module, and its result. */

import type { Outcome } from "../../../policy/outcome.js";
import type { HostAnswer } from "../../host/host.js";
import type { GuestMemory } from "../../rewrite/binary/types.js";
import type { Floor } from "../../rewrite/floor/floor.js";
import type { MemorySnapshot } from "../../rewrite/snapshot/memory-snapshot.js";
import type { Marking } from "../../rewrite/write-barriers/marking.js";
import type { CapturedState } from "../snapshot/captured-state.js";

/** The protocol of a module. The names are those of the metadata section, and `extism`. */
export type ExecutionMode = "extism" | "kubewarden-wapc" | "wasi" | "opa" | "gatekeeper";

/**
 * The operation of a call: an admission request, or any JSON (`validate` for the guest, too); the settings, which have another name for WASI
 * policies; for Rego modules the missing builtins; for Extism modules without a check of settings only their start.
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
  /** For `take-state`: the payloads of the neutral requests, see `StateOrder`. */
  readonly neutral?: readonly Uint8Array[];
  /** For `take-state`, see `StateOrder`. */
  readonly longStartUnits?: number;
}

/** A module of an Extism plugin from which others import, by its name. */
export interface LinkedModule {
  readonly name: string;
  readonly module: WebAssembly.Module;
}

/** The source of instances. */
export interface InstanceSource {
  readonly module: WebAssembly.Module;
  /** The modules of an Extism plugin beside its main module. */
  readonly linked?: readonly LinkedModule[];
  /** Whether its code changes only memory and numeric globals of an instance, which the host can restore. */
  readonly isResettable?: boolean;
  /** The state from which they start, with their memory: start functions that ran before its capture don't run again. */
  readonly state?: CapturedState;
}

/** A compiled module for workers. */
export interface GuestModule extends InstanceSource {
  readonly id: number;
  readonly mode: ExecutionMode;
  /** The memory that the module needs from its host, when it has none of its own. */
  readonly importedMemory?: GuestMemory;
  /** The content of that memory when an instance is made. */
  readonly image?: MemorySnapshot;
  /** The marking of its instances' writes; absent: none. */
  readonly marking?: Marking;
  /** Below which its code can't write; absent: it can write everywhere. Never on a thread, where a call that needs all of its stack has it. */
  readonly floor?: Floor;
}

/** The reason why a call gave no answer. */
export type GuestFailure =
  /** The guest reported an error in its protocol's way, or ended with an exit code. */
  | { readonly kind: "guest-error"; readonly text: string }
  /** A trap, a stack overflow, or a failing host function. */
  | {
      readonly kind: "trap";
      readonly text: string;
      /** The size of its memory; absent where the host can't see it. */
      readonly memoryBytes?: number;
    }
  /** The host has no memory left for another instance. */
  | { readonly kind: "out-of-memory"; readonly text: string }
  /** The instance could not be made or initialised. */
  | { readonly kind: "start-failed"; readonly text: string }
  /** A limit was exceeded; `text` names it. */
  | { readonly kind: "limit"; readonly text: string };

/** The result of a call in its own thread. The answer to a review is parsed. */
export type RunResult =
  | { readonly kind: "outcome"; readonly outcome: Outcome }
  /** The answer to any other question. */
  | { readonly kind: "answer"; readonly text: string }
  | GuestFailure;

/** The same for another thread: the answer to a review is its outcome's text (`outcome-text.ts`). */
export type GuestResult = { readonly kind: "answer"; readonly text: string } | GuestFailure;

/** The phase of a guest: making the instance and its start functions, or in the call itself. */
export type Phase = "start" | "call";

/** The result of a guest that its budget has ended. */
export interface Ended {
  readonly kind: "ended";
  readonly phase: Phase;
  readonly stderr: string;
}

/** A host call of a guest. */
export interface HostQuestion {
  readonly binding: string;
  readonly namespace: string;
  readonly operation: string;
  readonly payload: Uint8Array;
}

export type GuestLogLevel = "trace" | "debug" | "info" | "warn" | "error";

/** A log line of a guest. */
export interface LogLine {
  readonly level: GuestLogLevel;
  readonly text: string;
  /** `policy` for the guest's own log calls, `event` for a `tracing/log` payload (spec kubewarden.md 7.3), `output` for what it prints. */
  readonly source: "policy" | "event" | "output";
}

export type { HostAnswer };
