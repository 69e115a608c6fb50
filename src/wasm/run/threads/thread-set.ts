/** The pool's threads: started when they are needed, ended when they are not. The pool decides which calls they run. */
import { errorText } from "../../../data/error-text.js";
import type { ExecutionMode } from "../guest/call.js";
import type { CallReport } from "../worker/messages.js";
import type { SharedShares } from "../worker/shares.js";
import type { Clock } from "./clock.js";
import type { ThreadEnd } from "./job.js";
import { GuestThread } from "./thread.js";

/** Milliseconds after which a thread without calls ends: it takes some MiB, and starting another one costs 30 ms of a processor. */
const IDLE_MS = 10_000;
/** Milliseconds before another try when a thread could not start (no memory, no thread ids left). */
const RESTART_AFTER_MS = 1_000;
/** Failed starts in a row after which waiting calls are refused: the shortage lasts. */
const MAX_FAILED_STARTS = 3;

/** Events of the set for the pool. */
export interface ThreadSetEvents {
  /** A thread can be used, or another one started. */
  available(): void;
  report(thread: GuestThread, report: CallReport): void;
  /** A thread has ended by itself, perhaps with a call. */
  crashed(thread: GuestThread, end: ThreadEnd): void;
  /** Several threads in a row could not start. */
  cannotStart(reason: string): void;
}

/** All threads of a pool. */
export class ThreadSet {
  /** Threads that ended by themselves. */
  crashes = 0;
  readonly #threads = new Set<GuestThread>();
  /** Threads that have not been ready yet. */
  readonly #starting = new Set<GuestThread>();
  /** Idle threads, with the time of their last call's end; the most recent one is last. */
  readonly #idle = new Map<GuestThread, number>();
  /** Failed starts in a row. */
  #failedStarts = 0;
  /** Ends the pause after a failed start; no thread is started meanwhile. */
  #cancelPause: (() => void) | undefined;
  #cancelIdle: (() => void) | undefined;
  #closed = false;
  readonly #modes: ReadonlySet<ExecutionMode>;
  readonly #shares: SharedShares;
  readonly #clock: Clock;
  readonly #events: ThreadSetEvents;

  /** @param modes the kinds of guests seen: new threads load the code for them before they report ready */
  constructor(modes: ReadonlySet<ExecutionMode>, shares: SharedShares, clock: Clock, events: ThreadSetEvents) {
    this.#modes = modes;
    this.#shares = shares;
    this.#clock = clock;
    this.#events = events;
  }

  get threadCount(): number {
    return this.#threads.size;
  }

  get idleCount(): number {
    return this.#idle.size;
  }

  get startingCount(): number {
    return this.#starting.size;
  }

  /** The idle thread with the most recent call, so that surplus threads stay idle and end. It stays idle until it is taken. */
  get idleThread(): GuestThread | undefined {
    let last: GuestThread | undefined;
    for (last of this.#idle.keys());
    return last;
  }

  /** Marks a thread as busy. */
  take(thread: GuestThread): void {
    this.#idle.delete(thread);
  }

  /** Marks a thread as idle. */
  release(thread: GuestThread): void {
    if (this.#closed) return;
    thread.rest();
    this.#idle.set(thread, this.#clock.now());
    this.#endIdleLater();
  }

  /** Starts threads until this many are starting. */
  start(wanted: number): void {
    while (this.#starting.size < wanted && !this.#closed && !this.#cancelPause) this.#start();
  }

  close(): void {
    this.#closed = true;
    for (const thread of this.#threads) thread.end();
    this.#threads.clear();
    this.#starting.clear();
    this.#idle.clear();
    this.#cancelPause?.();
    this.#cancelIdle?.();
  }

  #start(): void {
    let thread: GuestThread;
    try {
      thread = new GuestThread([...this.#modes], this.#shares, {
        ready: () => {
          this.#starting.delete(thread);
          this.#failedStarts = 0;
          this.release(thread);
          this.#events.available();
        },
        report: (report) => this.#events.report(thread, report),
        ended: (end) => this.#ended(thread, end),
      });
    } catch (error) {
      // The operating system refuses another thread.
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

  #ended(thread: GuestThread, end: ThreadEnd): void {
    // Threads that were ended by us have left the set before.
    if (!this.#threads.delete(thread)) return;
    this.crashes++;
    this.take(thread);
    if (this.#starting.delete(thread)) {
      this.#startFailed(end.text);
      return;
    }
    this.#events.crashed(thread, end);
    this.#events.available();
  }

  #endIdleLater(): void {
    this.#cancelIdle ??= this.#clock.afterward(IDLE_MS, () => {
      this.#cancelIdle = undefined;
      const now = this.#clock.now();
      for (const [thread, since] of this.#idle) {
        if (now - since < IDLE_MS) break;
        this.#idle.delete(thread);
        this.#threads.delete(thread);
        thread.end();
      }
      if (this.#idle.size > 0) this.#endIdleLater();
    });
  }
}
