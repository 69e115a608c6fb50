/**
 * Calls on the main thread: a guest that answers within about a millisecond runs there, without a wait for another thread. Only a complete answer
 * counts. With any other result the call is run again on a thread, from its beginning, and the result there counts: a guest sees only its question,
 * and a moment that is the same for both (`guest/moment.ts`).
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Outcome } from "../../../policy/outcome.js";
import type { GuestLimits } from "../../limits.js";
import { PayloadScratch } from "../../payload.js";
import type { ExecutionMode, GuestCall, GuestModule, GuestResult, LogLine } from "../guest/call.js";
import { CallHost } from "../guest/call-host.js";
import { type Moment, Seeds } from "../guest/moment.js";
import { GuestRunner } from "../guest/run-call.js";
import type { FoundStart } from "../snapshot/start-report.js";
import type { StateOrder } from "../snapshot/take-state.js";
import type { CallHistory } from "./history.js";
import { INLINE_MS, ONCE_MS, Trial, UNPROVED_MS, UNPROVED_PAUSE_MS } from "./trial.js";

/** Milliseconds of a measuring window: as long as the main thread may be busy without a pause. */
const WINDOW_MS = 100;
/** The part of it that calls on the main thread may take; the rest is for requests, answers and other kinds of policies. */
const MOST = 0.5;
/** The same without another processor: on a thread a call takes as much of it, and two switches more. */
const MOST_OF_ONE = 0.9;
/**
 * Milliseconds up to which a call does not count, and always runs here: passing it to a thread and taking its result costs a good part of that, and
 * other requests hardly wait.
 */
const SHORT_MS = 0.25;

/** Measures the share, in consecutive windows. */
export class MainThreadShare {
  #window = Number.NEGATIVE_INFINITY;
  #used = 0;
  readonly #most: number;

  /** @param processors that this process has */
  constructor(processors: number) {
    this.#most = processors > 1 ? MOST : MOST_OF_ONE;
  }

  /**
   * Whether a call may run on the main thread.
   * @param at monotonic milliseconds
   * @param usualMs how long calls of its policy usually take there
   */
  allows(at: number, usualMs: number): boolean {
    if (usualMs <= SHORT_MS) return true;
    return at - this.#window >= WINDOW_MS || this.#used < this.#most * WINDOW_MS;
  }

  /**
   * Notes a call on the main thread.
   * @param began monotonic milliseconds
   * @param took milliseconds
   */
  took(began: number, took: number): void {
    if (took <= SHORT_MS) return;
    if (began - this.#window >= WINDOW_MS) {
      this.#window = began;
      this.#used = 0;
    }
    this.#used += took;
  }
}

/** Bytes of a question, data document included, up to which it runs on the main thread: it is copied, and parsed by the guest. */
export const INLINE_QUESTION_BYTES = 256 * 1024;
/** Bytes of an answer up to which it is parsed on the main thread; comparing a changed object of this size with the request's takes some 0.1 ms. */
const INLINE_ANSWER_BYTES = 32 * 1024;

/** One call. */
export interface MainThreadCall {
  readonly module: GuestModule;
  readonly call: GuestCall;
  readonly limits: GuestLimits;
  readonly moment: Moment;
  readonly history: CallHistory;
  /** Receives a log line of the guest. */
  readonly onLog: (line: LogLine) => void;
  /** Told when the guest has trapped, in its start or behind it: it may have been by its floor. */
  readonly onTrap?: () => void;
}

/** A call at load. */
export type MainThreadCheck = Pick<MainThreadCall, "module" | "call" | "limits" | "onLog">;

/** Numbers of calls, since the start. */
export interface MainThreadStatus {
  /** Calls that have answered on the main thread. */
  readonly answered: number;
  /** Calls that began there and were then run on a thread. */
  readonly movedOn: number;
}

/** Runs calls on the thread that creates it. */
export class MainThreadCalls {
  /** Seeds for the moments of calls. */
  readonly seeds = new Seeds();
  /** Memory for a payload that is used only here: the next one replaces it. */
  readonly allocate = new PayloadScratch(INLINE_QUESTION_BYTES).allocate;
  readonly #runner = new GuestRunner(INLINE_ANSWER_BYTES);
  readonly #share: MainThreadShare;
  readonly #now: () => number;
  /** The time from which the call of a policy that is not known to end may take long, as its first one does. */
  #nextUnproved = Number.NEGATIVE_INFINITY;
  #isTidying = false;
  /** The policy of the last call; memory of earlier ones is restored. */
  #lastAsked: CallHistory | undefined;
  #answered = 0;
  #movedOn = 0;

  /**
   * @param now monotonic milliseconds
   * @param processors that this process has
   */
  constructor(now: () => number, processors: number) {
    this.#now = now;
    this.#share = new MainThreadShare(processors);
  }

  /** Loads the code for a kind of guests. */
  load(mode: ExecutionMode): Promise<void> {
    return this.#runner.load(mode);
  }

  /** Whether a policy's next call begins here. */
  wouldTry(history: CallHistory): boolean {
    return history.isInline && this.#share.allows(this.#now(), history.usualMs);
  }

  /** The guest's outcome, for a policy that {@link wouldTry}; undefined when it has to be asked on a thread. */
  try({ module, call, limits, moment, history, onLog, onTrap }: MainThreadCall): Outcome | undefined {
    if (call.input.length + (call.data?.length ?? 0) > INLINE_QUESTION_BYTES) return undefined;
    const began = this.#now();
    // Filling a large memory takes longer than a call may take.
    const ready = this.#runner.prepare(module) ? this.#now() : began;
    const { isProved } = history;
    const limit = isProved ? INLINE_MS : ready >= this.#nextUnproved ? ONCE_MS : UNPROVED_MS;
    const trial = new Trial(ready, this.#now, limit, isProved);
    const host = new CallHost(trial, limits, trial, moment);
    const result = this.#runner.run(module, call, host);
    this.#tidyLater(history);
    const ended = this.#now();
    if (!isProved && ended - ready > UNPROVED_MS) this.#nextUnproved = ended + UNPROVED_PAUSE_MS;
    const milliseconds = history.counted(ended - began);
    this.#share.took(began, milliseconds);
    if (result.kind !== "outcome") {
      this.#movedOn++;
      history.failed();
      if (result.kind === "trap" || result.kind === "start-failed") onTrap?.();
      return undefined;
    }
    this.#answered++;
    history.answered(milliseconds);
    for (const line of trial.lines) onLog(line);
    return result.outcome;
  }

  /**
   * Runs a call at load; undefined when it must run on a thread. It says nothing about requests, and does not count among them. A thread takes 100 ms
   * of a processor to start, which for most servers is a fifth of their own start, and 8 MiB.
   */
  check({ module, call, limits, onLog }: MainThreadCheck): GuestResult | undefined {
    if (call.input.length > INLINE_QUESTION_BYTES) return undefined;
    const began = this.#now();
    const trial = new Trial(began, this.#now, ONCE_MS);
    const result = this.#runner.run(module, call, new CallHost(trial, limits, trial));
    this.#tidyLater();
    this.#share.took(began, this.#now() - began);
    if (result.kind !== "answer") return undefined;
    for (const line of trial.lines) onLog(line);
    return result;
  }

  /**
   * Captures a policy's state, in the time of a call; undefined when that is not enough, and a thread must capture it. Most small policies never need
   * one.
   */
  async takeState(order: Omit<StateOrder, "budget">): Promise<FoundStart | undefined> {
    const { takeState } = await import("../snapshot/take-state.js");
    // The answer to the current call goes first.
    await nextTurn();
    const began = this.#now();
    const budget = new Trial(began, this.#now, ONCE_MS);
    const found = await takeState({ ...order, budget });
    this.#share.took(began, this.#now() - began);
    return budget.isSpent ? undefined : found;
  }

  /** Prepares for the next call once the present answers were sent. */
  #tidyLater(history?: CallHistory): void {
    this.#lastAsked = history;
    if (this.#isTidying) return;
    this.#isTidying = true;
    setImmediate(this.#tidy);
  }

  readonly #tidy = (): void => {
    this.#isTidying = false;
    const began = this.#now();
    this.#runner.tidy();
    const milliseconds = this.#now() - began;
    this.#share.took(began, milliseconds);
    this.#lastAsked?.tidied(milliseconds);
    this.#lastAsked = undefined;
  };

  /** Counts for metrics. */
  get status(): MainThreadStatus {
    return { answered: this.#answered, movedOn: this.#movedOn };
  }
}
