/** The interface between the worker's loop and the guest protocols: the inputs and duties of a protocol. */
import { errorText } from "../../../data/error-text.js";
import type { GuestLimits } from "../../limits.js";
import type { RegoState } from "../snapshot/captured-state.js";
import type { Budget } from "./budget.js";
import type { GuestFailure, GuestLogLevel, GuestOperation, HostAnswer, InstanceSource, LogLine } from "./call.js";
import type { MomentView } from "./moment.js";
import type { InstancePlace } from "./place.js";

/** An instance that is ready for calls. */
export interface StartedInstance {
  readonly exports: WebAssembly.Instance["exports"];
  readonly memory: WebAssembly.Memory;
  /** Whether the module ended in its start function by an exit. */
  readonly exited: boolean;
  readonly rego?: RegoState;
}

/** The host's functions for the guest of one call; every method counts against the call's limits. */
export interface GuestHost {
  readonly limits: GuestLimits;
  /** The guest's budget. */
  readonly budget: Budget;
  /** The time and the random numbers that the guest sees. */
  readonly moment: MomentView;
  /**
   * Charges work of the host for the guest in advance: about one unit for each byte that it reads, copies or makes.
   * @throws {@link BUDGET_SPENT}
   */
  work(units: number): void;
  /** Makes a host call and blocks until the main thread answers. The payload may lie in the guest's memory. */
  call(binding: string, namespace: string, operation: string, payload: Uint8Array): HostAnswer;
  /** Passes a line to the log without waiting. */
  log(level: GuestLogLevel, text: string, source: LogLine["source"]): void;
  /** Logs output of the guest, cut to the length of a line. The bytes may lie in the guest's memory. */
  output(bytes: Uint8Array): void;
  /**
   * Notes that the guest has exceeded one of its limits. The call has failed, even if the guest catches the error.
   * @returns the error to throw
   */
  limitPassed(text: string): GuestLimitError;
  /** Says that the instance is initialised and the call begins. */
  enterCall(): void;
  /** Says that the instance has started and has not got its question yet: its state can be captured now. */
  started?(instance: StartedInstance): void;
  /** Keeps the guest's standard error. */
  stderr(bytes: Uint8Array): void;
  /** The standard error so far. */
  stderrText(): string;
  /** Blocks for a guest that sleeps; the thread stays killable meanwhile. */
  sleep(milliseconds: number): void;
}

/** One question for a guest. The bytes are only valid during the call. */
export interface GuestInput {
  /** The guest's name of the operation, see {@link GuestOperation}. */
  readonly operation: string;
  /** The payload, JSON in UTF-8. */
  readonly input: Uint8Array;
  /** The data document of a Rego module, or the environment of an Extism plugin; JSON in UTF-8. */
  readonly data?: Uint8Array;
}

/** A guest's answer. The bytes may lie in its memory or the host's, and are valid until the next call. */
export type GuestAnswer = { readonly kind: "answer"; readonly bytes: Uint8Array } | GuestFailure;

/**
 * Runs one call of one kind of guests in an instance equal to a new one. A trap may be thrown; `run-call.ts` turns it into a result.
 * @param place the memory that the module imports, with its first content
 */
export type RunGuest = (
  source: InstanceSource,
  call: GuestInput,
  host: GuestHost,
  place?: InstancePlace,
) => GuestAnswer;

/** Longest name of a host call in characters, all parts together: the longest that exists has 50, and names of refused calls are logged. */
export const NAME_LENGTH = 256;
/** Bytes that are read of each part of a name; they are more than {@link NAME_LENGTH} characters. */
export const NAME_BYTES = 1024;

/** Error of a guest that has exceeded one of its limits; ends the call. */
export class GuestLimitError extends Error {
  override readonly name = "GuestLimitError";
}

/** Error of a host without memory for the instance; ends the call. */
export class GuestMemoryError extends Error {
  override readonly name = "GuestMemoryError";
}

/** Error of an instance that could not be made or initialised; ends the call. */
export class GuestStartError extends Error {
  override readonly name = "GuestStartError";
}

/**
 * Makes or initialises an instance.
 * @throws GuestStartError for any error meanwhile, except an exceeded limit, which stays a GuestLimitError
 */
export function startGuest<T>(start: () => T): T {
  try {
    return start();
  } catch (error) {
    if (error instanceof GuestLimitError || error instanceof GuestStartError) throw error;
    throw new GuestStartError(errorText(error));
  }
}
