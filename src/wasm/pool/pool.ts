/**
 * The worker pool. The main thread owns the clock: a call that passes its limit is answered at once, and broken off.
 *
 * A busy thread has its next calls at hand, so that it need not wait for the main thread between them. A runaway guest must cost the others
 * little: what waits behind a call that takes long is taken back; the call moves out of the regular slots (a spare thread takes its place); later
 * its thread gets a low priority, and keeps it for the next calls of policies that run into their limit again and again. A guest that waits for
 * the host occupies a thread but no slot.
 */
import type { ContentMessage, ExecutionMode, FromWorker, HostCallMessage } from "../worker/messages.js";
import type { Clock } from "./clock.js";
import { Crew, type CrewSize } from "./crew.js";
import { FairQueue } from "./fair-queue.js";
import type { Assigned, Job, JobResult, Waiting } from "./job.js";
import { type Lane, Lanes, SLOW_IN_ALL } from "./lanes.js";
import { Suspects } from "./suspects.js";
import { type GuestThread, LOW_PRIORITY, LOWEST_PRIORITY } from "./thread.js";

/** Milliseconds between looks at what runs and waits. Time limits are kept as exactly as this. */
const TICK_MS = 5;
/** Milliseconds after which nothing is left or put behind a call: most calls take a tenth of one. */
const STUCK_AFTER_MS = 5;
/** Milliseconds after which a call leaves the regular slots: such a call is an exception already. */
const SLOW_AFTER_MS = 25;
/**
 * Least milliseconds after which a thread loses its priority. It does so when half of its call's time is over: an honest guest that takes long
 * must not be slowed down into its limit. Calls of suspects have a low priority from the start.
 */
const DEMOTE_AFTER_MS = 250;
/** Milliseconds that count as half of the time of a call with a generous limit, or none. */
const LONGEST_PATIENCE_MS = 2_000;
/** Waiting calls in all. Each waits no longer than its request's deadline; more than this is an attack, and memory is to be saved. */
const WAITING_IN_ALL = 10_000;
const TIMED_OUT_WAITING: JobResult = { kind: "timeout", phase: "waiting", stderr: "" };
const ABANDONED: JobResult = { kind: "refused", text: "nobody waits for the answer any more" };
const SHUTTING_DOWN: JobResult = { kind: "refused", text: "the server is shutting down" };

/** Numbers for metrics. Counters count from the pool's start. */
export interface PoolStatus {
  readonly threads: number;
  readonly idle: number;
  readonly running: number;
  readonly waiting: number;
  /** Threads replaced after a crash, or a time-out that an interruption did not end. */
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
  readonly #suspects: Suspects;
  readonly #lanes: Lanes;
  readonly #crew: Crew;
  #cancelTick: (() => void) | undefined;
  #timeouts = 0;
  #closed = false;
  readonly #clock: Clock;

  constructor(size: number, clock: Clock) {
    this.#clock = clock;
    this.#suspects = new Suspects(() => clock.now());
    this.#lanes = new Lanes(size);
    const crewSize: CrewSize = { idle: size, demoted: SLOW_IN_ALL * size, most: this.#lanes.mostThreads };
    this.#crew = new Crew(crewSize, this.#modes, clock, {
      available: () => this.#pump(),
      signal: (thread) => {
        thread.acknowledge();
        this.#collect(thread);
        this.#pump();
      },
      message: (thread, message) => this.#receive(thread, message),
      crashed: (thread, reason) => {
        this.#collect(thread);
        this.#takeOff(thread, { kind: "crash", text: reason });
      },
      unable: (reason) => {
        if (this.#crew.threadCount > 0) return;
        for (const { settle } of this.#queue.drain())
          settle({ kind: "refused", text: `no worker thread starts: ${reason}` });
      },
    });
  }

  /** Runs a job; never rejects. */
  run(job: Job): Promise<JobResult> {
    return new Promise((settle) => {
      if (this.#closed) return settle(SHUTTING_DOWN);
      if (this.#queue.size >= WAITING_IN_ALL)
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
      threads: this.#crew.threadCount,
      idle: this.#crew.idleCount,
      running: this.#active.size,
      waiting: this.#queue.size + assigned - this.#active.size,
      recycled: this.#crew.recycled,
      timeouts: this.#timeouts,
      crashes: this.#crew.crashes,
    };
  }

  /** Ends everything: waiting calls are refused, running ones die. */
  close(): void {
    this.#closed = true;
    this.#cancelTick?.();
    for (const { settle } of this.#queue.drain()) settle(SHUTTING_DOWN);
    for (const thread of this.#active)
      for (const assigned of thread.jobs.splice(0)) this.#settle(assigned, SHUTTING_DOWN);
    this.#active.clear();
    this.#crew.close();
  }

  /** Gives a job to a thread if nobody waits before it. */
  #assignAtOnce(waiting: Waiting): boolean {
    const { key } = waiting.job;
    if (this.#queue.size > 0 || this.#suspects.has(key) || this.#lanes.isFull(key)) return false;
    const thread = this.#regularThread();
    if (thread) this.#assign(thread, waiting, "regular");
    return thread !== undefined;
  }

  /** Gives waiting jobs to threads as long as there is room for both. */
  #pump(): void {
    if (this.#closed) return;
    while (this.#queue.size > 0) {
      const thread = this.#regularThread();
      const next = thread && this.#queue.take((key) => !this.#suspects.has(key) && !this.#lanes.isFull(key));
      if (!next) break;
      this.#assign(thread, next, "regular");
    }
    while (this.#queue.size > 0 && this.#lanes.hasRoom("slow")) {
      const thread = this.#crew.readyForSuspect;
      const next = thread && this.#queue.take((key) => this.#suspects.has(key) && !this.#lanes.isFull(key));
      if (!next) break;
      thread.demote(LOWEST_PRIORITY);
      this.#assign(thread, next, "slow");
    }
    this.#crew.refill(Math.min(this.#queue.size, this.#lanes.free));
  }

  /** A thread for another regular call: an idle one if there is a slot for it, else the one with the fewest calls. */
  #regularThread(): GuestThread | undefined {
    const idle = this.#lanes.hasRoom("regular") ? this.#crew.ready : undefined;
    if (idle) return idle;
    const lately = this.#clock.now() - STUCK_AFTER_MS;
    let best: GuestThread | undefined;
    for (const thread of this.#active) {
      if (thread.lane !== "regular" || !thread.hasRoom() || (best && best.jobs.length <= thread.jobs.length)) continue;
      if ((thread.jobs[0]?.resumed ?? 0) > lately) best = thread;
    }
    return best;
  }

  #assign(thread: GuestThread, waiting: Waiting, lane: Lane): void {
    if (thread.jobs.length === 0) {
      this.#crew.take(thread);
      this.#active.add(thread);
      thread.lane = lane;
      this.#lanes.enter(lane, waiting.job.key);
    }
    thread.put(waiting, this.#clock.now());
  }

  /** Settles the jobs that a thread is done with, and lets it rest behind the last one. */
  #collect(thread: GuestThread): void {
    let policy: string | undefined;
    for (;;) {
      const done = thread.collect();
      if (!done) break;
      policy = done.assigned.job.key;
      this.#lanes.leave(thread.lane, policy);
      thread.lane = "regular";
      this.#suspects.clear(policy);
      this.#settle(done.assigned, done.result);
      const next = thread.jobs[0];
      if (next) {
        next.started = next.resumed = this.#clock.now();
        this.#lanes.enter("regular", next.job.key);
      }
    }
    if (policy === undefined || thread.jobs.length > 0) return;
    this.#active.delete(thread);
    this.#crew.rest(thread);
  }

  /** Settles a thread's first job with this result, and lets the others wait again. */
  #takeOff(thread: GuestThread, result: JobResult): void {
    this.#active.delete(thread);
    const [first, ...others] = thread.jobs.splice(0);
    if (!first) return;
    this.#lanes.leave(thread.lane, first.job.key);
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

  /** Looks at everything that runs or waits, again and again as long as there is something. */
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
      this.#breakOff(thread, job, () => {
        this.#suspects.add(job.key);
        return { kind: "timeout", phase: thread.control.phase, stderr: thread.control.stderr() };
      });
      return;
    }
    const age = now - resumed;
    if ((age >= SLOW_AFTER_MS || thread.lane === "parked") && job.isAborted?.() === true) {
      this.#breakOff(thread, job, () => ABANDONED);
      return;
    }
    if (age >= STUCK_AFTER_MS) this.#putBack(thread.withdraw());
    if (age >= SLOW_AFTER_MS && thread.lane === "regular" && this.#lanes.hasRoom("slow"))
      this.#move(thread, job, "slow");
    const halfTime = Math.min((end - started) / 2, LONGEST_PATIENCE_MS);
    if (age >= Math.max(DEMOTE_AFTER_MS, halfTime) && thread.lane !== "parked") thread.demote(LOW_PRIORITY);
  }

  #move(thread: GuestThread, { key }: Job, lane: Lane): void {
    this.#lanes.leave(thread.lane, key);
    thread.lane = lane;
    this.#lanes.enter(lane, key);
  }

  /**
   * Ends a call whose time is up, or for which nobody waits.
   * @param result what it comes to when its guest has begun
   */
  #breakOff(thread: GuestThread, { module }: Job, result: () => JobResult): void {
    const { behind, first: waited } = thread.withdrawAll();
    this.#putBack(behind);
    const isAlone = thread.jobs.length === 1;
    this.#takeOff(thread, waited ? TIMED_OUT_WAITING : result());
    if (waited) this.#crew.rest(thread);
    else if (isAlone) this.#crew.breakOff(thread, module.mode);
    // An interruption could strike the call behind it, or the loading of what that needs.
    else this.#crew.replace(thread);
  }

  #receive(thread: GuestThread, message: Exclude<FromWorker, { type: "ready" | "signal" }>): void {
    const assigned = thread.jobs.find(({ ticket }) => ticket === message.ticket);
    if (!assigned) return;
    assigned.messages++;
    if (message.type === "log") assigned.job.onLog(message);
    else if (message.type === "host-call") void this.#serve(thread, assigned, message);
    else assigned.content = textOf(message);
  }

  /** Serves a host call; the guest's time goes on, its slot is free meanwhile. */
  async #serve(thread: GuestThread, assigned: Assigned, message: HostCallMessage): Promise<void> {
    // What is before it in the mailbox is done, or it could not ask.
    this.#collect(thread);
    const { job } = assigned;
    if (job.isAborted?.() === true) {
      this.#breakOff(thread, job, () => ABANDONED);
      return;
    }
    const before = thread.lane;
    if (this.#lanes.mayPark(job.key)) {
      this.#putBack(thread.withdraw());
      this.#move(thread, job, "parked");
      this.#pump();
    }
    assigned.killed ??= new AbortController();
    const answer = await job.onHostCall(message, assigned.killed.signal);
    if (thread.jobs[0] !== assigned) return;
    if (thread.lane === "parked") this.#move(thread, job, before);
    assigned.resumed = this.#clock.now();
    thread.answer(assigned.ticket, answer);
  }
}

function textOf({ content }: ContentMessage): string {
  return typeof content === "string"
    ? content
    : Buffer.from(content.buffer, content.byteOffset, content.length).toString();
}
