/** How the instances of one policy begin: cold, until a state for them has been taken, and again when an answer shows that it should not have been. */

import type { PreparedModule } from "./module/prepare.js";
import { sizeOf } from "./rewrite/snapshot/memory-snapshot.js";
import type { GuestModule } from "./run/guest/call.js";
import { coldStart, type FoundStart, type StartReport } from "./run/snapshot/start-report.js";

/** A policy that is asked once, by a command, needs no state; from this call on it may be asked for ever. */
const TAKEN_AT_CALL = 2;
/** With a state that is not exact, calls run cold as well, and the cold answer counts, until the state has said the same so many times. */
const TRIAL_CALLS = 10;
/** After these one in so many does, */
const TRIAL_EVERY = 1_000;
/** and not before so many milliseconds have passed: what takes a fifth of a second cold and a millisecond with its state would compute a sixth of the time for nothing else. */
const TRIAL_PAUSE_MS = 20_000;
/** Bytes of an image up to which a call may run on the main thread, which brings the memory back behind it: a MiB takes a tenth of a millisecond. */
const INLINE_IMAGE_BYTES = 2 * 1024 * 1024;
/** The same where only what was written to is brought back: the first call there writes all of it into a new memory, a third of a millisecond a MiB. */
const INLINE_MARKED_BYTES = 32 * 1024 * 1024;

/** Units of a start that is worth a state: to bring one back takes some thirty microseconds more than to bring back a module's own image. */
export const LONG_START_UNITS = 400_000;

/** What a start needs. */
export interface PolicyStartParts {
  readonly module: PreparedModule;
  /** False: all its instances begin cold. */
  readonly enabled: boolean;
  /** An id for the module with its state, which no other module has. */
  readonly newId: () => number;
  /** Takes the state of a module's instances. */
  readonly take: (module: GuestModule) => Promise<FoundStart>;
  /** Told when the policy goes back to cold instances. */
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
  /** How often the state that has to be proved has said what a cold start says; undefined when there is none. */
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

  /** What the next call's instance is made of. */
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

  /** Whether calls usually run there: not while a state is proved, for which threads are asked. */
  get isUsuallyInline(): boolean {
    return this.#isSmall && (this.#agreed === undefined || this.#agreed >= TRIAL_CALLS);
  }

  /** A call begins. Returns whether it is to run cold as well, to prove the state. */
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

  /** With this module's state a call has said what it says without. */
  agreed(module: GuestModule): void {
    if (this.#agreed !== undefined && module === this.#module) this.#agreed++;
  }

  /** A call has shown that the state can't serve. */
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
    // What was tried for a state may have trapped, too.
    if (!state && this.#calls >= TAKEN_AT_CALL) this.#takeIfEnabled();
  }

  #takeIfEnabled(): void {
    if (this.#parts.enabled && this.#parts.module.coldBecause === undefined) void this.#take(this.#cold);
  }

  async #take(module: GuestModule): Promise<void> {
    const { report, taken, isExact } = await this.#parts.take(module);
    // What has lost its floor meanwhile is tried again.
    if (module !== this.#cold) return;
    this.#report = report;
    if (!taken) return;
    const { image, state } = taken;
    this.#module = { ...this.#cold, id: this.#parts.newId(), image, state };
    this.#isSmall = sizeOf(image) <= (this.#module.marking ? INLINE_MARKED_BYTES : INLINE_IMAGE_BYTES);
    if (!isExact) this.#agreed = 0;
  }
}
