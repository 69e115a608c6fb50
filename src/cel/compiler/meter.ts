/**
 * One evaluation's meter: its cost, its work, limit and deadline, and registers in which helpers answer a second value.
 */
import type { Waiting } from "../questions.js";
import { CelError } from "../values/cel-error.js";
import { Interruption } from "../values/interruption.js";
import type { Result, Value } from "../values/value.js";
import type { Work } from "../values/work.js";
import type { StatefulCallee } from "./plan.js";

/** Units of work between two looks at the clock: some tenths of a millisecond, while a look takes as long as a hundred units at most. */
const UNITS_PER_LOOK = 200_000;

/**
 * Least work of a stretch: it takes 20 ms and more on any machine. An evaluation that has done less has not held its thread, however long ago it began. Of a
 * stretch of less than 40 ms half of it.
 */
const LEAST_STRETCH_UNITS = 20_000_000;

/** Units of work in a millisecond, about: an estimate for a call that is about to begin. */
const UNITS_PER_MS = 1_000_000;

/** Entries up to which a map's keys are listed each time: that takes no longer than looking for a kept list. */
const LEAST_KEPT_KEYS = 32;

/** Stands for an answer that has not arrived while the parts that do not depend on it are evaluated. */
export const PENDING: CelError = new CelError("the answer is not there yet", "waiting");

/** Makes the calls of an evaluation that waits for answers: the same call, with the same arguments, is made once. */
export interface Calls {
  ask(callee: StatefulCallee, meter: Meter, args: readonly Value[]): Result | Waiting;
}

/** The time at which an evaluation ends, how long it may hold its thread, and the clock for both: see `EvaluationOptions.deadline`. */
export interface Deadline {
  readonly at: number;
  readonly now: () => number;
  readonly stretch?: number;
  readonly held?: Held;
  readonly slice?: number;
}

/** The time for which a thread was held, by one evaluation or by several that are part of each other. */
export interface Held {
  /** Time of the first look at the clock. */
  since: number | undefined;
  /** Units of work counted at looks at the clock. */
  units: number;
}

/** The counters and the inputs of one evaluation (disposable). */
export class Meter implements Work {
  /** Cost units used, written when evaluation ends. */
  cost = 0;
  /** How many steps or cost units the last helper accounts for. */
  steps = 0;
  /** The keys of the last range, when it was a map with two variables. */
  keys: readonly Value[] | undefined = undefined;
  /** Whether there is a deadline. */
  readonly timed: boolean;
  /** Units of work left until the clock is looked at (see {@link Work}). */
  left: number;
  /** Whether the slice is over: the evaluation pauses where it can. */
  due = false;
  /** Units that listing keys has taken: all other work is announced before it is done, and this was done before the first look at the clock. */
  #listing = 0;
  #held: Held | undefined;
  #keys: WeakMap<object, readonly string[]> | undefined;
  readonly #deadline: Deadline | undefined;
  readonly #perLook: number;

  /**
   * @param limit cost units, `Infinity` for none
   * @param state passed to the functions with a `call`
   * @param onValue gets the values of nodes when tracing was compiled in
   * @param calls makes the calls when the evaluation is repeated with their answers
   */
  constructor(
    readonly limit: number,
    readonly state: unknown,
    readonly onValue: ((id: number, result: Result) => void) | undefined,
    deadline: Deadline | undefined,
    readonly calls: Calls | undefined,
  ) {
    this.#deadline = deadline;
    this.#perLook = deadline?.slice === 0 ? 0 : UNITS_PER_LOOK;
    this.left = this.#perLook;
    this.timed = deadline !== undefined;
  }

  /** Accounts for work, about a nanosecond a unit; called when {@link timed}, before the work is done. */
  spend(units: number): void {
    this.left -= units;
    if (this.left < 0) this.look();
  }

  /**
   * Looks at the clock, and ends the evaluation after its deadline, or when it has held its thread for longer than it may, or would have after the next
   * call: nothing interrupts a call. A large call is always made if little was done before it.
   */
  look(): void {
    const done = this.#perLook - this.left;
    this.left = this.#perLook;
    const deadline = this.#deadline;
    if (deadline === undefined) return;
    const now = deadline.now();
    if (now > deadline.at) throw new Interruption("deadline");
    const { stretch = Number.POSITIVE_INFINITY, slice = Number.POSITIVE_INFINITY } = deadline;
    if (deadline.stretch === undefined && deadline.slice === undefined) return;
    this.#held ??= deadline.held ?? { since: undefined, units: 0 };
    const held = this.#held;
    const before = held.units;
    held.units += done;
    // The first look comes soon after the start, and evaluations that end before it need no clock at all.
    held.since ??= now - this.#listing / UNITS_PER_MS;
    const spent = now - held.since;
    if (spent >= slice) this.due = true;
    const least = Math.min(LEAST_STRETCH_UNITS, (stretch / 2) * UNITS_PER_MS);
    const ends = before >= least ? spent + done / UNITS_PER_MS : spent;
    if (held.units >= least && ends > stretch) throw new Interruption("deadline");
  }

  /** Resumes an evaluation after a pause: it holds its thread from now on. */
  goOn(): void {
    this.due = false;
    this.#held = { since: this.#deadline?.now(), units: 0 };
  }

  /** The meter of a repetition: it has the same inputs, and continues the work of this evaluation. */
  again(): Meter {
    const meter = new Meter(this.limit, this.state, undefined, this.#deadline, this.calls);
    meter.#held = this.#held;
    return meter;
  }

  /** The keys of a map that is a plain object. Those of a wide one are kept: it does not change during an evaluation. */
  keysOf(map: object): readonly string[] {
    const known = this.#keys?.get(map);
    if (known !== undefined) return known;
    const keys = Object.keys(map);
    if (keys.length < LEAST_KEPT_KEYS) return keys;
    const units = keys.length * (keys.length < WIDE_KEYS ? KEY_UNITS : WIDE_KEY_UNITS);
    this.left -= units;
    this.#listing += units;
    this.#keys ??= new WeakMap();
    this.#keys.set(map, keys);
    return keys;
  }

  /** Reports the value of a node. */
  trace(id: number, result: Result): void {
    this.onValue?.(id, result);
  }
}

/** Accounts for work whose size is known only where it is done. */
export function spend(meter: Meter, units: number): void {
  meter.left -= units;
  if (meter.left < 0) meter.look();
}

/** The work of listing one key of an object, */
const KEY_UNITS = 50;
/** and of an object with so many that the engine keeps no order of them. */
const WIDE_KEY_UNITS = 200;
const WIDE_KEYS = 10_000;
