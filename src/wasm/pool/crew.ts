/** The pool's threads: started, kept ready, interrupted, replaced. What they run is the pool's business. */
import type { ExecutionMode, FromWorker } from "../worker/messages.js";
import type { Clock } from "./clock.js";
import { Interrupter } from "./interrupter.js";
import { GuestThread } from "./thread.js";

/** Threads kept ready beyond those in use, so that a replacement needs no start. */
const SPARE_THREADS = 1;
/** Milliseconds an interrupted thread has for coming to rest. It takes one or two; a thread of low priority on a busy machine waits for its turn, which harms nobody. */
const INTERRUPTION_MS = 10_000;
/** One of normal priority does not wait long for its turn, and others are not started as long as it is expected back. */
const NORMAL_INTERRUPTION_MS = 2_000;
/** Milliseconds before another try when a thread could not even start (no memory, no thread ids left). */
const RESTART_AFTER_MS = 1_000;
/** Threads that fail to start, one after the other, until nobody is left to wait for one: then it is no passing want of memory. */
const FAILED_STARTS = 3;
/** Guests whose host functions use libraries: an interruption could catch these in the middle, so the thread goes. */
const NOT_INTERRUPTED: ReadonlySet<ExecutionMode> = new Set(["opa", "gatekeeper"]);

/** How many threads there may be. */
export interface CrewSize {
  /** Threads of normal priority that may idle, the spare ones not counted. */
  readonly idle: number;
  /** Idle threads of low priority. */
  readonly demoted: number;
  /** Threads in all, the spare ones not counted. */
  readonly most: number;
}

/** What the crew tells the pool. */
export interface CrewEvents {
  /** A thread can be used, or another one started. */
  available(): void;
  signal(thread: GuestThread): void;
  message(thread: GuestThread, message: Exclude<FromWorker, { type: "ready" | "signal" }>): void;
  /** A thread has ended by itself, perhaps with jobs. */
  crashed(thread: GuestThread, reason: string): void;
  /** Threads fail to start, again and again: there is nothing to wait for. */
  unable(reason: string): void;
}

/** See the file's head. */
export class Crew {
  /** Threads replaced after a crash, or because an interruption was not possible or did not help. */
  recycled = 0;
  crashes = 0;
  /** Threads that failed to start since one has. */
  #failedStarts = 0;
  readonly #threads = new Set<GuestThread>();
  /** Those that are not ready for the first time. */
  readonly #starting = new Set<GuestThread>();
  /** Those that are not ready again, with what ends the waiting for them. */
  readonly #interrupted = new Map<GuestThread, () => void>();
  readonly #idle: GuestThread[] = [];
  /** Idle threads of low priority. */
  readonly #demoted: GuestThread[] = [];
  #interrupter: Interrupter | undefined;
  /** Ends the time in which no thread is started, because one could not start. */
  #endPause: (() => void) | undefined;
  #closed = false;
  readonly #size: CrewSize;
  readonly #modes: ReadonlySet<ExecutionMode>;
  readonly #clock: Clock;
  readonly #events: CrewEvents;

  /** @param modes the kinds of guests seen: new threads load the code for them before they report ready */
  constructor(size: CrewSize, modes: ReadonlySet<ExecutionMode>, clock: Clock, events: CrewEvents) {
    this.#size = size;
    this.#modes = modes;
    this.#clock = clock;
    this.#events = events;
  }

  get threadCount(): number {
    return this.#threads.size;
  }

  get idleCount(): number {
    return this.#idle.length + this.#demoted.length;
  }

  /** An idle thread, of normal priority unless no other can be had. It stays idle until it is taken. */
  get ready(): GuestThread | undefined {
    return this.#idle.at(-1) ?? (this.#mayStart ? undefined : this.#demoted.at(-1));
  }

  /**
   * An idle thread for a call that is not to disturb others: its priority is low already if there is such a thread. None while one of low priority
   * comes to rest: on a busy processor both together would take twice as much from the others, and a thread of normal priority would have to be
   * replaced each time.
   */
  get readyForSuspect(): GuestThread | undefined {
    for (const thread of this.#interrupted.keys()) if (isDemoted(thread)) return undefined;
    return this.#demoted.at(-1) ?? this.#idle.at(-1);
  }

  /** A thread gets its first job. */
  take(thread: GuestThread): void {
    remove(this.#idle, thread);
    remove(this.#demoted, thread);
  }

  /** A thread has no job any more: keeps it, or kills it when there are enough of its kind. */
  rest(thread: GuestThread): void {
    const [kept, most] = isDemoted(thread)
      ? [this.#demoted, this.#size.demoted]
      : [this.#idle, this.#size.idle + SPARE_THREADS];
    if (this.#closed || kept.length >= most) this.#discard(thread);
    else {
      thread.rest();
      kept.push(thread);
    }
  }

  /** Starts threads until so many of normal priority are idle or will be soon, and the spare ones. */
  refill(wanted: number): void {
    // Those of low priority do not serve the calls that a thread is wanted for.
    let coming = this.#starting.size;
    for (const thread of this.#interrupted.keys()) if (!isDemoted(thread)) coming++;
    const missing = wanted + SPARE_THREADS - this.#idle.length - coming;
    for (let count = 0; count < missing && this.#mayStart; count++) this.#start();
  }

  /** Ends what the thread runs, the only job that it has, and if need be the thread. */
  breakOff(thread: GuestThread, mode: ExecutionMode): void {
    const interrupted =
      thread.control.isRunning &&
      !NOT_INTERRUPTED.has(mode) &&
      this.#interrupter?.interrupt(thread.id, () => {
        if (this.#interrupted.has(thread)) thread.resume();
      });
    if (!interrupted) {
      this.replace(thread);
      return;
    }
    const giveUp = () => {
      this.#interrupted.delete(thread);
      this.#interrupter?.forget(thread.id);
      this.replace(thread);
      this.#events.available();
    };
    this.#interrupted.set(
      thread,
      this.#clock.after(isDemoted(thread) ? INTERRUPTION_MS : NORMAL_INTERRUPTION_MS, giveUp),
    );
  }

  /** Ends a thread, whatever it does. */
  replace(thread: GuestThread): void {
    this.recycled++;
    this.#discard(thread);
  }

  close(): void {
    this.#closed = true;
    for (const thread of this.#threads) thread.kill();
    this.#threads.clear();
    this.#starting.clear();
    for (const stopWaiting of this.#interrupted.values()) stopWaiting();
    this.#interrupted.clear();
    this.#endPause?.();
    this.#idle.length = 0;
    this.#demoted.length = 0;
    this.#interrupter?.close();
  }

  get #mayStart(): boolean {
    return !this.#closed && !this.#endPause && this.#threads.size < this.#size.most + SPARE_THREADS;
  }

  #start(): void {
    if (this.#threads.size === 0) void this.#openInterrupter();
    let thread: GuestThread;
    try {
      thread = new GuestThread([...this.#modes], {
        ready: () => {
          if (this.#starting.delete(thread)) this.#failedStarts = 0;
          else if (!this.#isBack(thread)) return;
          this.rest(thread);
          this.#events.available();
        },
        signal: () => this.#events.signal(thread),
        message: (message) => this.#events.message(thread, message),
        gone: (reason) => this.#lose(thread, reason),
      });
    } catch (error) {
      // The system gives no thread: there are too many.
      this.#failToStart(error instanceof Error ? error.message : String(error));
      return;
    }
    this.#threads.add(thread);
    this.#starting.add(thread);
  }

  #failToStart(reason: string): void {
    this.#endPause ??= this.#clock.after(RESTART_AFTER_MS, () => {
      this.#endPause = undefined;
      this.#events.available();
    });
    if (++this.#failedStarts >= FAILED_STARTS) this.#events.unable(reason);
  }

  /** An interrupted thread is not waited for any more; false if it was not. */
  #isBack(thread: GuestThread): boolean {
    this.#interrupted.get(thread)?.();
    return this.#interrupted.delete(thread);
  }

  async #openInterrupter(): Promise<void> {
    const interrupter = await Interrupter.open();
    if (this.#closed || this.#interrupter) interrupter?.close();
    else this.#interrupter = interrupter;
  }

  /** A thread has ended: killed, when it is not known any more, else by itself. */
  #lose(thread: GuestThread, reason: string): void {
    if (!this.#threads.delete(thread)) return;
    this.crashes++;
    this.take(thread);
    if (this.#starting.delete(thread)) {
      this.#failToStart(reason);
      return;
    }
    this.#isBack(thread);
    this.recycled++;
    this.#events.crashed(thread, reason);
    this.#events.available();
  }

  #discard(thread: GuestThread): void {
    this.#threads.delete(thread);
    thread.kill();
  }
}

function isDemoted({ priority }: GuestThread): boolean {
  return priority > 0;
}

function remove<T>(list: T[], item: T): void {
  const at = list.indexOf(item);
  if (at >= 0) list.splice(at, 1);
}
