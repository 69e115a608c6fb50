/** The start mode of one policy's instances: cold, until a state has been captured for them, and again when an answer shows that the state is wrong. */

import type { PreparedModule } from "./module/prepare.js";
import { sizeOf } from "./rewrite/snapshot/memory-snapshot.js";
import type { GuestModule } from "./run/guest/call.js";
import { coldStart, type FoundStart, type StartReport } from "./run/snapshot/start-report.js";

/** The call from which a state is captured: a policy that a command calls once needs none. */
const TAKEN_AT_CALL = 2;
/** Number of equal answers that an inexact state needs: until then calls run cold as well, and the cold answer counts. */
const TRIAL_CALLS = 10;
/** After these, one in this many calls runs cold as well, */
const TRIAL_EVERY = 1_000;
/**
 * and not before this many milliseconds have passed: a call of a fifth of a second cold and a millisecond with its state would otherwise take a sixth
 * of the time for comparisons.
 */
const TRIAL_PAUSE_MS = 20_000;
/** Bytes of a snapshot up to which a call may run on the main thread, which restores the memory after it: a MiB takes a tenth of a millisecond. */
const INLINE_IMAGE_BYTES = 2 * 1024 * 1024;
/** The same where only written regions are restored: the first call there fills a new memory, a third of a millisecond a MiB. */
const INLINE_MARKED_BYTES = 32 * 1024 * 1024;

/** Units of a start that is worth a state: restoring one takes some thirty microseconds more than restoring a module's own snapshot. */
export const LONG_START_UNITS = 400_000;

/** Parts of a start. */
export interface PolicyStartParts {
  readonly module: PreparedModule;
  /** False: all its instances begin cold. */
  readonly enabled: boolean;
  /** An id for the module with its state, which no other module has. */
  readonly newId: () => number;
  /** Captures the state of a module's instances. */
  readonly take: (module: GuestModule) => Promise<FoundStart>;
  /** Receives a warning when the policy goes back to cold instances. */
  readonly warn: (message: string) => void;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** One policy's start. */
export class PolicyStart {
  /** Without a state, and with the one that there is. */
  #cold: GuestModule;
  #module: GuestModule;
  #report: StartReport;
  #calls = 0;
  /** Number of answers in which the state under trial has agreed with a cold start; undefined without such a state. */
  #agreed: number | undefined;
  /** Calls since the last one that ran cold as well, and when the next one may. */
  #unproved = 0;
  #nextTrial = 0;
  readonly #parts: PolicyStartParts;

  constructor(parts: PolicyStartParts) {
    this.#parts = parts;
    this.#cold = parts.module;
    this.#module = parts.module;
    const { coldBecause } = parts.module;
    this.#report = coldStart(coldBecause ?? (parts.enabled ? "it has not been asked often enough" : "it is told to"));
  }

  /** The module of the next call's instance. */
  get module(): GuestModule {
    return this.#module;
  }

  /** For `GET /policies`. */
  get report(): StartReport {
    return this.#report;
  }

  /** Whether calls may run on the main thread. */
  get isSmall(): boolean {
    return this.#isSmall;
  }
  #isSmall = true;

  /** Whether calls usually run there: not while a state is on trial, which takes threads. */
  get isUsuallyInline(): boolean {
    return this.#isSmall && (this.#agreed === undefined || this.#agreed >= TRIAL_CALLS);
  }

  /** Begins a call. Returns whether it must run cold as well, to test the state. */
  begin(): boolean {
    this.#calls++;
    if (this.#calls === TAKEN_AT_CALL) this.#takeIfEnabled();
    if (this.#agreed === undefined) return false;
    if (this.#agreed < TRIAL_CALLS) return true;
    if (++this.#unproved < TRIAL_EVERY || this.#parts.now() < this.#nextTrial) return false;
    this.#unproved = 0;
    this.#nextTrial = this.#parts.now() + TRIAL_PAUSE_MS;
    return true;
  }

  /** Notes that a call's answers with and without this module's state agree. */
  agreed(module: GuestModule): void {
    if (this.#agreed !== undefined && module === this.#module) this.#agreed++;
  }

  /** Gives up the state after a call that has shown it to be wrong. */
  refuse(because: string): void {
    if (this.#agreed === undefined) return;
    this.#agreed = undefined;
    this.#module = this.#cold;
    this.#isSmall = true;
    this.#report = coldStart(because);
    this.#parts.warn(`the policy's instances begin cold again: ${because}`);
  }

  /**
   * Its calls may write below the floor from now on: one had to.
   * @param module the same without it
   */
  dropFloor(module: WebAssembly.Module): void {
    if (!this.#cold.floor) return;
    const { newId } = this.#parts;
    const withoutFloor = ({ floor: _, ...rest }: GuestModule): GuestModule => ({ ...rest, module, id: newId() });
    const { state } = this.#module;
    const cold = withoutFloor(this.#cold);
    this.#module = state ? withoutFloor(this.#module) : cold;
    this.#cold = cold;
    // The trial for a state may have trapped, too.
    if (!state && this.#calls >= TAKEN_AT_CALL) this.#takeIfEnabled();
  }

  #takeIfEnabled(): void {
    if (this.#parts.enabled && this.#parts.module.coldBecause === undefined) void this.#take(this.#cold);
  }

  async #take(module: GuestModule): Promise<void> {
    const { report, taken, isExact } = await this.#parts.take(module);
    // A module that has lost its floor meanwhile is tried again.
    if (module !== this.#cold) return;
    this.#report = report;
    if (!taken) return;
    const { image, state } = taken;
    this.#module = { ...this.#cold, id: this.#parts.newId(), image, state };
    this.#isSmall = sizeOf(image) <= (this.#module.marking ? INLINE_MARKED_BYTES : INLINE_IMAGE_BYTES);
    if (!isExact) this.#agreed = 0;
  }
}
