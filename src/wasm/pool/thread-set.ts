/** The pool's threads: started, kept idle, interrupted, replaced. Which jobs they run is decided by the pool. */
import { errorText } from "../../data/error-text.js";
import type { ExecutionMode } from "../guest/call.js";
import type { FromWorker } from "../worker/messages.js";
import type { Clock } from "./clock.js";
import { Interrupter } from "./interrupter.js";
import type { ThreadEnd } from "./job.js";
import { GuestThread } from "./thread.js";

/** Idle threads kept beyond those that are needed, so that a replacement need not be started first. */
const SPARE_THREADS = 1;
/**
 * Milliseconds until an interrupted thread of low priority must be ready again. One or two are usual; on a busy machine such a thread gets little of
 * the processor, and waiting for it harms nobody.
 */
const LOW_PRIORITY_INTERRUPTION_MS = 10_000;
/** The same for normal priority: such a thread runs soon, and as long as it is expected no other is started in its place. */
const INTERRUPTION_MS = 2_000;
/** Milliseconds before another try when a thread could not even start (no memory, no thread ids left). */
const RESTART_AFTER_MS = 1_000;
/** Failed starts in a row after which waiting calls are refused: the shortage does not pass. */
const MAX_FAILED_STARTS = 3;
/** Guests whose host functions use libraries: an interruption could strike inside of one, so the thread is killed instead. */
const NOT_INTERRUPTED: ReadonlySet<ExecutionMode> = new Set(["opa", "gatekeeper"]);

/** How many threads there may be. */
export interface ThreadSetLimits {
  /** Idle threads of normal priority that regular calls need. The spare one is kept beyond them, until it gets a low priority. */
  readonly idle: number;
  /** Idle threads of low priority. */
  readonly idleLowPriority: number;
  /** Threads in all, without the spare one. */
  readonly all: number;
}

/** What the set tells the pool. */
export interface ThreadSetEvents {
  /** A thread can be used, or another one started. */
  available(): void;
  signal(thread: GuestThread): void;
  message(thread: GuestThread, message: Exclude<FromWorker, { type: "ready" | "signal" }>): void;
  /** A thread has ended by itself, perhaps with jobs. */
  crashed(thread: GuestThread, end: ThreadEnd): void;
  /** Several threads in a row could not start. */
  cannotStart(reason: string): void;
}

/** All threads of a pool. */
export class ThreadSet {
  /** Threads replaced after a crash, or because they could not be interrupted. */
  recycled = 0;
  crashes = 0;
  readonly #threads = new Set<GuestThread>();
  /** Threads that have not been ready yet. */
  readonly #starting = new Set<GuestThread>();
  /** Threads that are expected to be ready again; each with the function that cancels its time limit. */
  readonly #interrupted = new Map<GuestThread, () => void>();
  readonly #idle: GuestThread[] = [];
  readonly #idleLowPriority: GuestThread[] = [];
  /** Threads in a row that could not start. */
  #failedStarts = 0;
  /** Ends the pause behind a failed start; no thread is started meanwhile. */
  #cancelPause: (() => void) | undefined;
  /** Undefined where the engine has no inspector. */
  #interrupter: Interrupter | undefined;
  /** Whether there is one to be had is found out before the first thread. */
  #interrupterIs: "unknown" | "awaited" | "known" = "unknown";
  #closed = false;
  readonly #limits: ThreadSetLimits;
  readonly #modes: ReadonlySet<ExecutionMode>;
  readonly #clock: Clock;
  readonly #events: ThreadSetEvents;

  /** @param modes the kinds of guests seen: new threads load the code for them before they report ready */
  constructor(limits: ThreadSetLimits, modes: ReadonlySet<ExecutionMode>, clock: Clock, events: ThreadSetEvents) {
    this.#limits = limits;
    this.#modes = modes;
    this.#clock = clock;
    this.#events = events;
  }

  get threadCount(): number {
    return this.#threads.size;
  }

  get idleCount(): number {
    return this.#idle.length + this.#idleLowPriority.length;
  }

  /** An idle thread, of normal priority unless no other can be had. It stays idle until it is taken. */
  get idleThread(): GuestThread | undefined {
    return this.#idle.at(-1) ?? (this.#mayStart ? undefined : this.#idleLowPriority.at(-1));
  }

  /**
   * An idle thread for a call that must not disturb others: one that has a low priority already, or one more than regular calls need. There is none while a thread of low
   * priority is being interrupted: on a busy processor both together would take twice as much from the others, and each time another thread would
   * lose its normal priority.
   */
  get lowPriorityThread(): GuestThread | undefined {
    for (const thread of this.#interrupted.keys()) if (hasLowPriority(thread)) return undefined;
    return this.#idleLowPriority.at(-1) ?? (this.#idle.length > this.#limits.idle ? this.#idle.at(-1) : undefined);
  }

  /** Whether an interrupted thread of normal priority will be ready in a moment. */
  get isExpectingThread(): boolean {
    for (const thread of this.#interrupted.keys()) if (!hasLowPriority(thread)) return true;
    return false;
  }

  /** Idle threads of normal priority. */
  get idleRegularCount(): number {
    return this.#idle.length;
  }

  /** A thread gets its first job: it is no longer idle. */
  take(thread: GuestThread): void {
    remove(this.#idle, thread);
    remove(this.#idleLowPriority, thread);
  }

  /** A thread has no job left: it becomes idle, or is killed when enough of its priority are idle. */
  release(thread: GuestThread): void {
    const [idle, max] = hasLowPriority(thread)
      ? [this.#idleLowPriority, this.#limits.idleLowPriority]
      : [this.#idle, this.#limits.idle + SPARE_THREADS];
    if (this.#closed || idle.length >= max) this.#kill(thread);
    else {
      thread.becomeIdle();
      idle.push(thread);
    }
  }

  /**
   * Starts threads until so many of normal priority, and the spare one, are idle or expected to be. The first ones wait for the interrupter.
   * @param forSlow whether a thread is wanted that can get a low priority
   */
  refill(wanted: number, forSlow = false): void {
    if (this.#interrupterIs === "unknown") void this.#awaitInterrupter();
    if (this.#interrupterIs !== "known") return;
    // Threads of low priority are not for the calls that wait for one.
    let expected = this.#starting.size;
    for (const thread of this.#interrupted.keys()) if (!hasLowPriority(thread)) expected++;
    // One after the other: their starts take the processors from everybody.
    const another =
      forSlow && expected === 0 && this.#idleLowPriority.length === 0 && this.#idle.length <= this.#limits.idle;
    const missing = Math.max(wanted + SPARE_THREADS - this.#idle.length - expected, another ? 1 : 0);
    for (let count = 0; count < missing && this.#mayStart; count++) this.#start();
  }

  /** Whether a thread would live on when its guest is broken off now. */
  canInterrupt(thread: GuestThread, mode: ExecutionMode): boolean {
    return thread.control.isRunning && !NOT_INTERRUPTED.has(mode) && this.#interrupter !== undefined;
  }

  /** Ends the only job of a thread: interrupts the thread, or kills it where that is not possible. */
  stop(thread: GuestThread, mode: ExecutionMode): void {
    const interrupted =
      this.canInterrupt(thread, mode) &&
      this.#interrupter?.interrupt(thread.id, () => {
        if (this.#interrupted.has(thread)) thread.resume();
      });
    if (!interrupted) {
      this.replace(thread);
      return;
    }
    const limit = hasLowPriority(thread) ? LOW_PRIORITY_INTERRUPTION_MS : INTERRUPTION_MS;
    const cancel = this.#clock.after(limit, () => {
      this.#interrupted.delete(thread);
      this.#interrupter?.forget(thread.id);
      this.replace(thread);
      this.#events.available();
    });
    this.#interrupted.set(thread, cancel);
  }

  /** Kills a thread, whatever it does; another one will be started when it is needed. */
  replace(thread: GuestThread): void {
    this.recycled++;
    this.#kill(thread);
  }

  close(): void {
    this.#closed = true;
    for (const thread of this.#threads) thread.kill();
    this.#threads.clear();
    this.#starting.clear();
    for (const cancel of this.#interrupted.values()) cancel();
    this.#interrupted.clear();
    this.#cancelPause?.();
    this.#idle.length = 0;
    this.#idleLowPriority.length = 0;
  }

  get #mayStart(): boolean {
    return !this.#closed && !this.#cancelPause && this.#threads.size < this.#limits.all + SPARE_THREADS;
  }

  #start(): void {
    let thread: GuestThread;
    try {
      thread = new GuestThread([...this.#modes], {
        ready: () => {
          if (this.#starting.delete(thread)) this.#failedStarts = 0;
          else if (!this.#endInterruption(thread)) return;
          this.release(thread);
          this.#events.available();
        },
        signal: () => this.#events.signal(thread),
        message: (message) => this.#events.message(thread, message),
        ended: (end) => this.#ended(thread, end),
      });
    } catch (error) {
      // The operating system gives no thread: there are too many.
      this.#startFailed(errorText(error));
      return;
    }
    this.#threads.add(thread);
    this.#starting.add(thread);
  }

  #startFailed(reason: string): void {
    this.#cancelPause ??= this.#clock.after(RESTART_AFTER_MS, () => {
      this.#cancelPause = undefined;
      this.#events.available();
    });
    if (++this.#failedStarts >= MAX_FAILED_STARTS) this.#events.cannotStart(reason);
  }

  /** Whether the thread was interrupted; it is not waited for any more. */
  #endInterruption(thread: GuestThread): boolean {
    this.#interrupted.get(thread)?.();
    return this.#interrupted.delete(thread);
  }

  async #awaitInterrupter(): Promise<void> {
    this.#interrupterIs = "awaited";
    this.#interrupter = await Interrupter.get();
    this.#interrupterIs = "known";
    this.#events.available();
  }

  #ended(thread: GuestThread, end: ThreadEnd): void {
    // Threads that were killed have left the set before.
    if (!this.#threads.delete(thread)) return;
    this.crashes++;
    this.take(thread);
    if (this.#starting.delete(thread)) {
      this.#startFailed(end.text);
      return;
    }
    this.#endInterruption(thread);
    this.recycled++;
    this.#events.crashed(thread, end);
    this.#events.available();
  }

  #kill(thread: GuestThread): void {
    this.#threads.delete(thread);
    thread.kill();
  }
}

function hasLowPriority({ priority }: GuestThread): boolean {
  return priority > 0;
}

function remove<T>(list: T[], item: T): void {
  const at = list.indexOf(item);
  if (at >= 0) list.splice(at, 1);
}
