/** The interface between the worker's loop and the guest protocols: what a protocol gets, and what it must do. */
import { errorText } from "../../../data/error-text.js";
import type { GuestLimits } from "../../limits.js";
import type { RegoState } from "../snapshot/captured-state.js";
import type { Budget } from "./budget.js";
import type { GuestFailure, GuestLogLevel, GuestOperation, HostAnswer, InstanceSource, LogLine } from "./call.js";
import type { MomentView } from "./moment.js";
import type { InstancePlace } from "./place.js";

/** An instance that is ready to be asked. */
export interface StartedInstance {
  readonly exports: WebAssembly.Instance["exports"];
  readonly memory: WebAssembly.Memory;
  /** Whether the module ended in its start function by an exit. */
  readonly exited: boolean;
  readonly rego?: RegoState;
}

/** What the host offers to the guest of one call; every method counts against the call's limits. */
export interface GuestHost {
  readonly limits: GuestLimits;
  /** How long the guest may run. */
  readonly budget: Budget;
  /** The time and the chance that the guest sees. */
  readonly moment: MomentView;
  /**
   * Counts what the host does for the guest, before it does it: about as many units as bytes that it reads, copies or makes.
   * @throws {@link BUDGET_SPENT}
   */
  work(units: number): void;
  /** Asks the main thread and blocks until it answers. The payload may lie in the guest's memory. */
  call(binding: string, namespace: string, operation: string, payload: Uint8Array): HostAnswer;
  /** Passes a line to the log without waiting. */
  log(level: GuestLogLevel, text: string, source: LogLine["source"]): void;
  /** Logs what the guest printed, cut to the length of a line. The bytes may lie in the guest's memory. */
  output(bytes: Uint8Array): void;
  /**
   * The guest has passed one of its limits. The call has failed with that, also when the guest catches what is thrown.
   * @returns what to throw
   */
  limitPassed(text: string): GuestLimitError;
  /** Says that the instance is initialised and the call begins. */
  enterCall(): void;
  /** Says that all has run which runs before a guest is told what is asked: its state can be taken now. */
  started?(instance: StartedInstance): void;
  /** Keeps what the guest writes to standard error. */
  stderr(bytes: Uint8Array): void;
  /** All of standard error so far. */
  stderrText(): string;
  /** Blocks for a guest that sleeps; the thread stays killable meanwhile. */
  sleep(milliseconds: number): void;
}

/** One question as a guest gets it. The bytes are only valid during the call. */
export interface GuestInput {
  /** The name by which the guest knows what is asked, see {@link GuestOperation}. */
  readonly operation: string;
  /** The payload, JSON in UTF-8. */
  readonly input: Uint8Array;
  /** The data document of a Rego module, or the environment of an Extism plugin; JSON in UTF-8. */
  readonly data?: Uint8Array;
}

/** A guest's answer. The bytes may lie in its memory or the host's, and are valid until the next call. */
export type GuestAnswer = { readonly kind: "answer"; readonly bytes: Uint8Array } | GuestFailure;

/**
 * Runs one call of one kind of guests in an instance that is as a new one. A trap may be thrown; `run-call.ts` turns it into a result.
 * @param place with the memory that the module wants from its host, holding what it begins with
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

/** A guest passed one of its limits; ends the call. */
export class GuestLimitError extends Error {
  override readonly name = "GuestLimitError";
}

/** The host has no memory left for the instance; ends the call. */
export class GuestMemoryError extends Error {
  override readonly name = "GuestMemoryError";
}

/** The instance could not be made or initialised; ends the call. */
export class GuestStartError extends Error {
  override readonly name = "GuestStartError";
}

/**
 * Makes or initialises an instance.
 * @throws GuestStartError whatever is thrown meanwhile, but for a passed limit, which stays a GuestLimitError
 */
export function startGuest<T>(start: () => T): T {
  try {
    return start();
  } catch (error) {
    if (error instanceof GuestLimitError || error instanceof GuestStartError) throw error;
    throw new GuestStartError(errorText(error));
  }
}
