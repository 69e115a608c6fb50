/**
 * Captures the state from which a policy's instances start: after their start functions, and after one neutral call where that pays. A state is used
 * only when no trial has distinguished it from a fresh start.
 */
import { isDeepStrictEqual } from "node:util";
import type { GuestLimits } from "../../limits.js";
import { START_ONLY } from "../../names.js";
import { type MemorySnapshot, sameImage, takeImage } from "../../rewrite/snapshot/memory-snapshot.js";
import type { Budget } from "../guest/budget.js";
import type { GuestModule, LogLine } from "../guest/call.js";
import { CallHost, type HostSide } from "../guest/call-host.js";
import type { StartedInstance } from "../guest/guest.js";
import { Moment } from "../guest/moment.js";
import { GuestRunner, type Question } from "../guest/run-call.js";
import { globalsOf } from "../guest/start-functions.js";
import type { TakenState } from "./captured-state.js";
import { coldStart, type FoundStart } from "./start-report.js";

/** Ends a call whose state was captured at its start. Its result does not matter. */
class StateTaken extends Error {}

/** A call's host that captures the state of its instance: when it has started, or when it has answered. */
class CaptureHost extends CallHost {
  /** The state after its start, once it is captured. */
  taken: TakenState | undefined;
  #started: StartedInstance | undefined;
  readonly #base: MemorySnapshot;
  readonly #until: "start" | "answer";

  /** @param base the snapshot from which instances of the module start */
  constructor(base: MemorySnapshot, until: "start" | "answer", ...rest: ConstructorParameters<typeof CallHost>) {
    super(...rest);
    this.#base = base;
    this.#until = until;
  }

  started(instance: StartedInstance): void {
    this.#started = instance;
    if (this.#until === "answer") return;
    this.taken = this.take();
    throw new StateTaken();
  }

  /**
   * The instance's state now.
   * @returns undefined when the instance has not started, or can't be captured
   */
  take(): TakenState | undefined {
    if (!this.#started) return undefined;
    const { exports, memory, exited, rego } = this.#started;
    return {
      ...takeImage(memory, this.#base),
      state: { globals: globalsOf({ exports }), exited, ...(rego && { rego }) },
    };
  }
}

/** An order for a state. */
export interface StateOrder {
  /** The module without a state. */
  readonly module: GuestModule;
  readonly limits: GuestLimits;
  /** The budget of all runs together. */
  readonly budget: Budget;
  /** The data document of a Rego module. */
  readonly data?: Uint8Array;
  /** Units of fuel of a start that is worth a state of its own. Default: any. */
  readonly longStartUnits?: number;
  /** Payloads of neutral requests, the warming one first, then those of other contents; empty when only the state after the start is needed. */
  readonly neutral: readonly Uint8Array[];
}

/** Milliseconds between the two times at which a state is captured: one that depends on the clock differs. */
const OTHER_TIME_MS = 86_400_000;
/** Most bytes of a state of one policy: restoring a MiB takes a hundred microseconds, and a server has a hundred policies. */
const STATE_BYTES = 32 * 1024 * 1024;
/** Units of fuel between two counts, */
const COUNTED_UNITS = 1_000;
/** or this part of the units used before: precise enough to distinguish a state that saves a tenth of a call from one that saves a third. */
const COUNTED_PART = 1 / 32;
/** Units of a call that is worth a state of its own: some ten microseconds. */
const WORTHWHILE_UNITS = 100_000;
/** Share of a call that a state must save to pay. */
const WORTHWHILE_SHARE = 0.2;
/** Units of restoring a byte of a state. */
const UNITS_PER_BYTE = 0.1;

const SHORT_START = "its start is short";
const NOT_CHECKED = "its time was up before the state was checked";
const NOT_ANSWERED = "it answers no neutral request";

/** Captures a state. Never throws; guests run in the calling thread. */
export async function takeState(order: StateOrder): Promise<FoundStart> {
  const trial = new Trial(order);
  await trial.begin();
  const after = await trial.start();
  if (typeof after === "string") return { report: coldStart(after), isExact: true };
  const warm = order.neutral.length > 0 && !order.budget.isSpent ? await trial.call(after) : undefined;
  if (warm !== undefined && typeof warm !== "string") return { report: { start: "warm" }, taken: warm, isExact: false };
  if (trial.startIsShort) {
    const because = warm === undefined ? SHORT_START : `${SHORT_START}, and ${warm}`;
    return { report: coldStart(because), isExact: true };
  }
  const report = { start: "started", ...(warm !== undefined && { because: warm }) } as const;
  return { report, taken: after, isExact: !trial.dependsOnChance };
}

/** The result of a run. */
interface Run {
  readonly result: unknown;
  readonly answered: boolean;
  /** Whether the guest made a host call, or waited. */
  readonly spoke: boolean;
  /** Its log lines: they have no answer, so they don't influence the guest. */
  readonly lines: readonly LogLine[];
  readonly units: number;
}

class Trial {
  /** Whether the state after the start depends on the time or on random numbers. */
  dependsOnChance = false;
  #startUnits = 0;
  readonly #order: StateOrder;
  readonly #runner = new GuestRunner();
  /** Results of instances that started cold, by question. */
  readonly #cold = new Map<Uint8Array, Run>();

  constructor(order: StateOrder) {
    this.#order = order;
  }

  begin(): Promise<void> {
    return this.#runner.load(this.#order.module.mode);
  }

  /** The state after the start, or the reason why there is none. */
  async start(): Promise<TakenState | string> {
    const { module, neutral } = this.#order;
    const one = await this.#captureTwice(module, "start");
    // An unused state needs no trial, which would take long for a policy with long calls.
    if (typeof one === "string" || this.startIsShort) return one;
    const other = await this.#capture(module, "start", laterMoment());
    if (typeof other === "string") return other;
    if (same(one, other)) return one;
    this.dependsOnChance = true;
    // Most often the keys of its hash maps, which a server draws once as well, or the time of its start.
    if (neutral.length === 0) return "what its start leaves depends on chance";
    return (await this.#difference(module, [one, other])) ?? one;
  }

  /** Whether the start is too short to be worth a state. */
  get startIsShort(): boolean {
    return this.#startUnits < (this.#order.longStartUnits ?? 0);
  }

  /** The state after a neutral call, or the reason why there is none. @param after the state after the start */
  async call(after: TakenState): Promise<TakenState | string> {
    const { module } = this.#order;
    const started = this.startIsShort ? module : { ...module, image: after.image, state: after.state };
    // A policy for Ingresses may only fail for a Pod.
    const [first, second] = this.#order.neutral.filter((input) => this.#coldRun(input).answered);
    if (!first || !second) return NOT_ANSWERED;
    const cold = this.#coldRun(second);
    if (cold.units < WORTHWHILE_UNITS) return "its calls are short";
    const warm = await this.#captureTwice(started, "answer", first);
    if (typeof warm === "string") return warm;
    const before = this.startIsShort ? cold : this.#run(started, second);
    const saved = before.units - this.#run({ ...started, ...warm }, second).units;
    if (saved < Math.max(cold.units * WORTHWHILE_SHARE, warm.ownBytes * UNITS_PER_BYTE))
      return "a call before would not make its calls shorter";
    const other = await this.#capture(started, "answer", new Moment(), second);
    if (typeof other === "string") return other;
    return (await this.#difference(started, [warm, other])) ?? warm;
  }

  /** Evaluates all neutral requests from each state: every answer must equal that of an instance that started cold. */
  async #difference(module: GuestModule, states: readonly TakenState[]): Promise<string | undefined> {
    const { neutral } = this.#order;
    for (const input of neutral) {
      if (this.#order.budget.isSpent) return NOT_CHECKED;
      const cold = this.#coldRun(input);
      for (const run of [cold, ...states.map((taken) => this.#run({ ...module, ...taken }, input))]) {
        if (run.spoke) return "it asks the host";
        if (!isDeepStrictEqual(run.result, cold.result) || !isDeepStrictEqual(run.lines, cold.lines))
          return "its answers depend on calls before, or on chance";
      }
    }
    if (this.#order.budget.isSpent) return NOT_CHECKED;
    // Equal errors prove nothing without any other answer.
    return neutral.some((input) => this.#coldRun(input).answered) ? undefined : NOT_ANSWERED;
  }

  /** The result of an instance that starts cold. */
  #coldRun(input: Uint8Array): Run {
    const known = this.#cold.get(input);
    if (known) return known;
    const run = this.#run(this.#order.module, input);
    this.#cold.set(input, run);
    return run;
  }

  /**
   * A state that is the same at two times, with the same random numbers. It may depend on the monotonic clock: an old reading is that of a process
   * which has lived for long.
   */
  async #captureTwice(
    module: GuestModule,
    until: "start" | "answer",
    input?: Uint8Array,
  ): Promise<TakenState | string> {
    const moment = new Moment();
    const { seed, time } = moment;
    const one = await this.#capture(module, until, moment, input);
    if (typeof one === "string") return one;
    const later = { wall: time.wall + OTHER_TIME_MS, monotonic: time.monotonic };
    const other = await this.#capture(module, until, new Moment({ seed, time: later }), input);
    if (typeof other === "string") return other;
    return same(one, other) ? one : "what it leaves depends on the time of day";
  }

  /** @param input the call after which the state is captured; absent: before any call */
  async #capture(
    module: GuestModule,
    until: "start" | "answer",
    moment: Moment,
    input: Uint8Array = new Uint8Array(),
  ): Promise<TakenState | string> {
    const { limits, budget } = this.#order;
    // A new runner has no memory that was used, and perhaps grown, before.
    const runner = new GuestRunner();
    await runner.load(module.mode);
    const side = new SilentSide();
    const image = module.image ?? { pages: 0, runs: [] };
    const counting = new CountingBudget(budget);
    const host = new CaptureHost(image, until, side, limits, counting, moment);
    const question = this.#question(input);
    const asked: Question =
      until === "start" && module.mode === "extism" ? { ...question, operation: START_ONLY } : question;
    const result = runner.run(module, asked, host);
    // The call ends there.
    if (until === "start") this.#startUnits = counting.units;
    if (budget.isSpent) return "its time was up before the state was taken";
    if (side.spoke) return until === "start" ? "its start asks the host" : "it asks the host";
    // Without a state the line would be logged for each call.
    if (until === "start" && side.lines.length > 0) return "its start logs";
    if (until === "answer" && result.kind !== "outcome") return NOT_ANSWERED;
    const taken = until === "start" ? host.taken : host.take();
    if (!taken) return "its start leaves something with the host, or does not end well";
    return taken.ownBytes > STATE_BYTES
      ? `its state has ${taken.ownBytes} bytes, and the most is ${STATE_BYTES}`
      : taken;
  }

  #run(module: GuestModule, input: Uint8Array): Run {
    const { limits } = this.#order;
    const side = new SilentSide();
    const budget = new CountingBudget(this.#order.budget);
    const host = new CallHost(side, limits, budget, module.state ? laterMoment() : new Moment());
    const result = this.#runner.run(module, this.#question(input), host);
    return { result, answered: result.kind === "outcome", spoke: side.spoke, lines: side.lines, units: budget.units };
  }

  #question(input: Uint8Array): Question {
    const { data } = this.#order;
    return { operation: "validate", input, ...(data && { data }) };
  }
}

/** A moment far from the capture of states, so that a remembered time is wrong. */
function laterMoment(): Moment {
  const { wall, monotonic } = new Moment().time;
  return new Moment({ time: { wall: wall + OTHER_TIME_MS, monotonic: monotonic + OTHER_TIME_MS * 1_000 } });
}

function same(one: TakenState, other: TakenState): boolean {
  return sameImage(one.image, other.image) && isDeepStrictEqual(one.state, other.state);
}

/** A host that answers no call, and notes that there was one. */
class SilentSide implements HostSide {
  spoke = false;
  readonly lines: LogLine[] = [];

  ask() {
    this.spoke = true;
    return { ok: false as const, error: "the host does not answer while a policy's state is taken" };
  }

  line(line: LogLine): void {
    this.lines.push(line);
  }

  sleep(): void {
    this.spoke = true;
  }
}

/** Counts what a run uses of another budget. */
class CountingBudget implements Budget {
  units = 0;
  #given = 0;
  readonly #whole: Budget;

  constructor(whole: Budget) {
    this.#whole = whole;
  }

  get isSpent(): boolean {
    return this.#whole.isSpent;
  }

  refill(): number {
    if (this.#given <= 0) this.#given = this.#whole.refill();
    if (this.#given <= 0) return 0;
    const units = Math.max(COUNTED_UNITS, Math.floor(Math.min(this.units * COUNTED_PART, this.#given)));
    this.#given -= units;
    this.units += units;
    return units;
  }
}
