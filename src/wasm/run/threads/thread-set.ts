/** The pool's threads: started when they are needed, ended when they are not. Which calls they run is decided by the pool. */
import { errorText } from "../../../data/error-text.js";
import type { ExecutionMode } from "../guest/call.js";
import type { CallReport } from "../worker/messages.js";
import type { SharedShares } from "../worker/shares.js";
import type { Clock } from "./clock.js";
import type { ThreadEnd } from "./job.js";
import { GuestThread } from "./thread.js";

/** Milliseconds after which a thread without calls ends: it takes some MiB, and to start another one costs 30 ms of a processor. */
const IDLE_MS = 10_000;
/** Milliseconds before another try when a thread could not even start (no memory, no thread ids left). */
const RESTART_AFTER_MS = 1_000;
/** Failed starts in a row after which waiting calls are refused: the shortage does not pass. */
const MAX_FAILED_STARTS = 3;

/** What the set tells the pool. */
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
  /** Since when threads have had no call; the one that had one last stands last. */
  readonly #idle = new Map<GuestThread, number>();
  /** Threads in a row that could not start. */
  #failedStarts = 0;
  /** Ends the pause behind a failed start; no thread is started meanwhile. */
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

  /** The idle thread that had a call last, so that those which are too many stay idle and end. It stays idle until it is taken. */
  get idleThread(): GuestThread | undefined {
    let last: GuestThread | undefined;
    for (last of this.#idle.keys());
    return last;
  }

  /** A thread gets a call: it is no longer idle. */
  take(thread: GuestThread): void {
    this.#idle.delete(thread);
  }

  /** A thread has no call left: it becomes idle. */
  release(thread: GuestThread): void {
    if (this.#closed) return;
    thread.rest();
    this.#idle.set(thread, this.#clock.now());
    this.#endIdleLater();
  }

  /** Starts threads until so many are starting. */
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
