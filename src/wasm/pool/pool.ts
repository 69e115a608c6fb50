/**
 * The worker pool. The main thread keeps the time limits: a call that passes its limit is answered at once, and its guest stopped.
 *
 * A busy thread has its next calls in its mailbox, so that it need not wait for the main thread between them. A guest that runs for long must cost
 * the others little: the calls behind it are given to other threads; it leaves its regular slot to another call; later its thread gets a low
 * priority, which it keeps, and the next calls of policies that time out repeatedly go to such threads. A guest that waits for the host occupies
 * a thread but no regular slot.
 */
import type { ContentMessage, ExecutionMode, FromWorker, HostCallMessage } from "../worker/messages.js";
import type { Clock } from "./clock.js";
import { FairQueue } from "./fair-queue.js";
import type { Assigned, Job, JobResult, Waiting } from "./job.js";
import { RepeatedTimeouts } from "./repeated-timeouts.js";
import { MAX_SLOW, type SlotKind, Slots } from "./slots.js";
import { type GuestThread, LOW_PRIORITY, LOWEST_PRIORITY } from "./thread.js";
import { ThreadSet, type ThreadSetLimits } from "./thread-set.js";

/** Milliseconds between two checks of all calls. Time limits are kept as exactly as this. */
const TICK_MS = 5;
/** Milliseconds after which no other call waits in the mailbox behind a call: most calls take a tenth of one. */
const LONG_AFTER_MS = 5;
/** Milliseconds after which a call leaves its regular slot; few calls take so long. */
const SLOW_AFTER_MS = 25;
/**
 * Milliseconds before which no thread gets a low priority. It gets one when half of its call's time is over: an honest guest that takes long must
 * not time out because of that. Calls of policies that time out repeatedly have a low priority from the start.
 */
const LOW_PRIORITY_AFTER_MS = 250;
/** Half of a call's time is at most so many milliseconds, also when its limit is high or there is none. */
const MAX_HALF_TIME_MS = 2_000;
/** Waiting calls in all. Each waits no longer than its request's deadline; more of them are an attack on memory. */
const MAX_WAITING = 10_000;
const TIMED_OUT_WAITING: JobResult = { kind: "timeout", phase: "waiting", stderr: "" };
const ABANDONED: JobResult = { kind: "refused", text: "nobody waits for the answer any more" };
const SHUTTING_DOWN: JobResult = { kind: "refused", text: "the server is shutting down" };

/** Numbers for metrics. Counters count from the pool's start. */
export interface PoolStatus {
  readonly threads: number;
  readonly idle: number;
  readonly running: number;
  readonly waiting: number;
  /** Threads replaced after a crash, or because they could not be interrupted. */
  readonly recycled: number;
  readonly timeouts: number;
  readonly crashes: number;
}

/** A pool of `size` regular slots. */
export class WorkerPool {
  readonly #queue = new FairQueue<Waiting>();
  /** Threads with jobs. */
  readonly #active = new Set<GuestThread>();
  readonly #modes = new Set<ExecutionMode>();
  readonly #repeatedTimeouts: RepeatedTimeouts;
  readonly #slots: Slots;
  readonly #threads: ThreadSet;
  #cancelTick: (() => void) | undefined;
  #timeouts = 0;
  #closed = false;
  readonly #clock: Clock;

  constructor(size: number, clock: Clock) {
    this.#clock = clock;
    this.#repeatedTimeouts = new RepeatedTimeouts(() => clock.now());
    this.#slots = new Slots(size);
    const limits: ThreadSetLimits = { idle: size, idleLowPriority: MAX_SLOW * size, all: this.#slots.maxThreads };
    this.#threads = new ThreadSet(limits, this.#modes, clock, {
      available: () => this.#pump(),
      signal: (thread) => {
        thread.acknowledge();
        this.#collect(thread);
        this.#pump();
      },
      message: (thread, message) => this.#receive(thread, message),
      crashed: (thread, end) => {
        this.#collect(thread);
        this.#endFirst(thread, { kind: "crash", ...end });
      },
      cannotStart: (reason) => {
        if (this.#threads.threadCount > 0) return;
        for (const { settle } of this.#queue.drain())
          settle({ kind: "refused", text: `no worker thread starts: ${reason}` });
      },
    });
  }

  /** Runs a job; never rejects. */
  run(job: Job): Promise<JobResult> {
    return new Promise((settle) => {
      if (this.#closed) return settle(SHUTTING_DOWN);
      if (this.#queue.size >= MAX_WAITING)
        return settle({ kind: "refused", text: "too many policy calls are waiting" });
      this.#modes.add(job.module.mode);
      const waiting: Waiting = { job, settle };
      if (!this.#assignAtOnce(waiting)) {
        this.#queue.push(job.key, waiting);
        this.#pump();
      }
      this.#watch();
    });
  }

  status(): PoolStatus {
    let assigned = 0;
    for (const thread of this.#active) assigned += thread.jobs.length;
    return {
      threads: this.#threads.threadCount,
      idle: this.#threads.idleCount,
      running: this.#active.size,
      waiting: this.#queue.size + assigned - this.#active.size,
      recycled: this.#threads.recycled,
      timeouts: this.#timeouts,
      crashes: this.#threads.crashes,
    };
  }

  /** Kills all threads; running and waiting calls are refused. */
  close(): void {
    this.#closed = true;
    this.#cancelTick?.();
    for (const { settle } of this.#queue.drain()) settle(SHUTTING_DOWN);
    for (const thread of this.#active)
      for (const assigned of thread.jobs.splice(0)) this.#settle(assigned, SHUTTING_DOWN);
    this.#active.clear();
    this.#threads.close();
  }

  /** Gives a job to a thread unless others wait before it. */
  #assignAtOnce(waiting: Waiting): boolean {
    const { key } = waiting.job;
    if (this.#queue.size > 0 || this.#repeatedTimeouts.has(key) || this.#slots.hasMaxSlow(key)) return false;
    const thread = this.#regularThread();
    if (thread) this.#assign(thread, waiting, "regular");
    return thread !== undefined;
  }

  /** Gives waiting jobs to threads as long as there is room for both. */
  #pump(): void {
    if (this.#closed) return;
    while (this.#queue.size > 0) {
      const thread = this.#regularThread();
      const next =
        thread && this.#queue.take((key) => !this.#repeatedTimeouts.has(key) && !this.#slots.hasMaxSlow(key));
      if (!next) break;
      this.#assign(thread, next, "regular");
    }
    while (this.#queue.size > 0 && this.#slots.hasRoom("slow")) {
      const thread = this.#threads.lowPriorityThread;
      const next = thread && this.#queue.take((key) => this.#repeatedTimeouts.has(key) && !this.#slots.hasMaxSlow(key));
      if (!next) break;
      thread.lowerPriority(LOWEST_PRIORITY);
      this.#assign(thread, next, "slow");
    }
    this.#threads.refill(Math.min(this.#queue.size, this.#slots.free));
  }

  /** A thread for another regular call: an idle one if there is a slot for it, else the one with the fewest calls. */
  #regularThread(): GuestThread | undefined {
    const idle = this.#slots.hasRoom("regular") ? this.#threads.idleThread : undefined;
    if (idle) return idle;
    const since = this.#clock.now() - LONG_AFTER_MS;
    let best: GuestThread | undefined;
    for (const thread of this.#active) {
      if (thread.slot !== "regular" || !thread.hasRoom() || (best && best.jobs.length <= thread.jobs.length)) continue;
      if ((thread.jobs[0]?.resumed ?? 0) > since) best = thread;
    }
    return best;
  }

  #assign(thread: GuestThread, waiting: Waiting, kind: SlotKind): void {
    if (thread.jobs.length === 0) {
      this.#threads.take(thread);
      this.#active.add(thread);
      thread.slot = kind;
      this.#slots.enter(kind, waiting.job.key);
    }
    thread.put(waiting, this.#clock.now());
  }

  /** Settles the jobs that a thread has finished; it becomes idle behind the last one. */
  #collect(thread: GuestThread): void {
    let policy: string | undefined;
    for (;;) {
      const done = thread.collect();
      if (!done) break;
      policy = done.assigned.job.key;
      this.#slots.leave(thread.slot, policy);
      thread.slot = "regular";
      this.#repeatedTimeouts.clear(policy);
      this.#settle(done.assigned, done.result);
      const next = thread.jobs[0];
      if (next) {
        next.started = next.resumed = this.#clock.now();
        this.#slots.enter("regular", next.job.key);
      }
    }
    if (policy === undefined || thread.jobs.length > 0) return;
    this.#active.delete(thread);
    this.#threads.release(thread);
  }

  /** Takes all jobs off a thread: settles the first one with this result and puts the others back into the queue. */
  #endFirst(thread: GuestThread, result: JobResult): void {
    this.#active.delete(thread);
    const [first, ...others] = thread.jobs.splice(0);
    if (!first) return;
    this.#slots.leave(thread.slot, first.job.key);
    this.#putBack(others);
    this.#settle(first, result);
  }

  #putBack(assigned: readonly Waiting[]): void {
    for (const { job, settle } of [...assigned].reverse()) this.#queue.putBack(job.key, { job, settle });
  }

  #settle(assigned: Assigned, result: JobResult): void {
    assigned.killed?.abort();
    assigned.settle(result);
  }

  /** Checks all calls every few milliseconds, as long as there are any. */
  #watch(): void {
    if (this.#cancelTick || this.#closed) return;
    this.#cancelTick = this.#clock.after(TICK_MS, () => {
      this.#cancelTick = undefined;
      const now = this.#clock.now();
      for (const thread of this.#active) this.#inspect(thread, now);
      for (const { settle } of this.#queue.sweep(({ job }) => now >= job.deadline || job.isAborted?.() === true)) {
        this.#timeouts++;
        settle(TIMED_OUT_WAITING);
      }
      this.#pump();
      if (this.#active.size > 0 || this.#queue.size > 0) this.#watch();
    });
  }

  #inspect(thread: GuestThread, now: number): void {
    this.#collect(thread);
    const first = thread.jobs[0];
    if (!first) return;
    const { job, started, resumed } = first;
    const end = Math.min(started + (job.timeoutMs ?? Number.POSITIVE_INFINITY), job.deadline);
    if (now >= end) {
      this.#timeouts++;
      this.#stop(thread, job, () => {
        this.#repeatedTimeouts.add(job.key);
        return { kind: "timeout", phase: thread.control.phase, stderr: thread.control.stderr() };
      });
      return;
    }
    const age = now - resumed;
    if ((age >= SLOW_AFTER_MS || thread.slot === "hostCall") && job.isAborted?.() === true) {
      this.#stop(thread, job, () => ABANDONED);
      return;
    }
    if (age >= LONG_AFTER_MS) this.#putBack(thread.withdraw());
    if (age >= SLOW_AFTER_MS && thread.slot === "regular" && this.#slots.hasRoom("slow"))
      this.#move(thread, job, "slow");
    const halfTime = Math.min((end - started) / 2, MAX_HALF_TIME_MS);
    if (age >= Math.max(LOW_PRIORITY_AFTER_MS, halfTime) && thread.slot !== "hostCall")
      thread.lowerPriority(LOW_PRIORITY);
  }

  #move(thread: GuestThread, { key }: Job, kind: SlotKind): void {
    this.#slots.leave(thread.slot, key);
    thread.slot = kind;
    this.#slots.enter(kind, key);
  }

  /**
   * Ends a call whose time is up, or for which nobody waits.
   * @param result of the call when its guest has begun
   */
  #stop(thread: GuestThread, { module }: Job, result: () => JobResult): void {
    const { behind, first: notStarted } = thread.withdrawAll();
    this.#putBack(behind);
    const isAlone = thread.jobs.length === 1;
    this.#endFirst(thread, notStarted ? TIMED_OUT_WAITING : result());
    if (notStarted) this.#threads.release(thread);
    else if (isAlone) this.#threads.stop(thread, module.mode);
    // An interruption could strike the next call, or the loading of its module.
    else this.#threads.replace(thread);
  }

  #receive(thread: GuestThread, message: Exclude<FromWorker, { type: "ready" | "signal" }>): void {
    const assigned = thread.jobs.find(({ ticket }) => ticket === message.ticket);
    if (!assigned) return;
    assigned.messages++;
    if (message.type === "log") assigned.job.onLog(message);
    else if (message.type === "host-call") void this.#serve(thread, assigned, message);
    else assigned.content = textOf(message);
  }

  /** Serves a host call. The guest's time limit goes on; its regular slot is free meanwhile. */
  async #serve(thread: GuestThread, assigned: Assigned, message: HostCallMessage): Promise<void> {
    // All calls before this one in the mailbox are done, or it could not ask.
    this.#collect(thread);
    const { job } = assigned;
    if (job.isAborted?.() === true) {
      this.#stop(thread, job, () => ABANDONED);
      return;
    }
    const before = thread.slot;
    if (this.#slots.mayWaitForHost(job.key)) {
      this.#putBack(thread.withdraw());
      this.#move(thread, job, "hostCall");
      this.#pump();
    }
    assigned.killed ??= new AbortController();
    const answer = await job.onHostCall(message, assigned.killed.signal);
    if (thread.jobs[0] !== assigned) return;
    if (thread.slot === "hostCall") this.#move(thread, job, before);
    assigned.resumed = this.#clock.now();
    thread.answer(assigned.ticket, answer);
  }
}

function textOf({ content }: ContentMessage): string {
  return typeof content === "string"
    ? content
    : Buffer.from(content.buffer, content.byteOffset, content.length).toString();
}
