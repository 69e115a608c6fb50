/**
 * The worker pool. The main thread owns the clock: a call that passes its limit is answered at once, its thread killed and replaced.
 *
 * A runaway guest must cost the others little. So a call that has run for a while moves out of the regular slots (a spare thread takes its
 * place), later its thread gets the lowest priority, and a policy with several such calls waits until one has ended. A guest that waits for the
 * host occupies a thread but no slot.
 */

import { LRUCache } from "lru-cache";
import type { ExecutionMode, FromWorker, GuestResult, HostCallMessage } from "../worker/messages.js";
import type { Clock } from "./clock.js";
import { FairQueue } from "./fair-queue.js";
import type { Job, JobResult } from "./job.js";
import { GuestThread } from "./thread.js";

/** Milliseconds after which a call leaves the regular slots: most calls take one or two, so such a call is an exception already. */
const SLOW_AFTER_MS = 25;
/**
 * Least milliseconds after which a thread loses its priority (and is not used again). It does so when half of its call's time is over: an honest
 * guest that takes long must not be slowed down into its limit.
 */
const DEMOTE_AFTER_MS = 250;
/** Milliseconds that count as half of the time of a call with a generous limit, or none. */
const LONGEST_PATIENCE_MS = 2_000;
/** Both of these for a policy whose last calls all ran into their limit: the next one is likely to do so too. */
const SUSPECT_AFTER_MS = 5;
/** Calls in a row that must have run into their limit: one may be the fault of a busy machine. */
const SUSPECT_TIMEOUTS = 2;
/** Milliseconds for which a policy is suspect. */
const SUSPICION_MS = 60_000;
/** Suspects remembered; more policies than this that loop at the same time are beyond help. */
const SUSPECTS = 1_000;
/** Slow calls of one policy per regular slot. More than that, and its next calls wait. */
const SLOW_PER_POLICY = 1;
/** Slow calls in all, per regular slot. */
const SLOW_IN_ALL = 2;
/** Calls that wait for the host at a time: each holds a thread of some MiB. */
const PARKED_IN_ALL = 32;
/** Threads kept ready beyond those in use, so that a replacement needs no start. */
const SPARE_THREADS = 1;
/** Milliseconds before another try when a thread could not even start (no memory, no thread ids left). */
const RESTART_AFTER_MS = 1_000;
/** Waiting calls in all. Each waits no longer than its request's deadline; more than this is an attack, and memory is to be saved. */
const WAITING_IN_ALL = 10_000;

/** Numbers for metrics. Counters count from the pool's start. */
export interface PoolStatus {
  readonly threads: number;
  readonly idle: number;
  readonly running: number;
  readonly waiting: number;
  /** Threads replaced after a time-out, a crash, or a call that had lost its priority. */
  readonly recycled: number;
  readonly timeouts: number;
  readonly crashes: number;
}

type Lane = "regular" | "slow" | "parked";

interface Waiting {
  readonly job: Job;
  readonly settle: (result: JobResult) => void;
  stopWaiting: () => void;
  taken: boolean;
}

/** A job on a thread. */
interface Running {
  readonly job: Job;
  readonly settle: (result: JobResult) => void;
  readonly started: number;
  /** When it last began to compute: at its start, or with the host's last answer. */
  resumed: number;
  /** Aborted when the job ends; made with its first host call. */
  killed?: AbortController;
  lane: Lane;
  cancelTimer: () => void;
}

/** A pool of `size` regular slots. */
export class WorkerPool {
  private readonly queue = new FairQueue<Waiting>();
  private readonly threads = new Set<GuestThread>();
  private readonly idle: GuestThread[] = [];
  private readonly running = new Map<GuestThread, Running>();
  private readonly slowByKey = new Map<string, number>();
  /** The kinds of guests seen: new threads load the code for them before they report ready. */
  private readonly modes = new Set<ExecutionMode>();
  private readonly suspects: LRUCache<string, number>;
  private readonly lanes: Record<Lane, number> = { regular: 0, slow: 0, parked: 0 };
  private starting = 0;
  private recycled = 0;
  private timeouts = 0;
  private crashes = 0;
  private closed = false;

  constructor(
    private readonly size: number,
    private readonly clock: Clock,
  ) {
    this.suspects = new LRUCache({ max: SUSPECTS, ttl: SUSPICION_MS, perf: { now: () => clock.now() } });
  }

  /** Runs a job; never rejects. */
  run(job: Job): Promise<JobResult> {
    return new Promise((settle) => {
      if (this.closed) return settle({ kind: "refused", text: "the server is shutting down" });
      if (this.queue.size >= WAITING_IN_ALL)
        return settle({ kind: "refused", text: "too many policy calls are waiting" });
      const waiting: Waiting = { job, settle, stopWaiting: () => {}, taken: false };
      this.queue.push(job.key, waiting);
      this.modes.add(job.mode);
      this.pump();
      if (!waiting.taken) this.watchWaiting(waiting);
    });
  }

  status(): PoolStatus {
    return {
      threads: this.threads.size,
      idle: this.idle.length,
      running: this.running.size,
      waiting: this.queue.size,
      recycled: this.recycled,
      timeouts: this.timeouts,
      crashes: this.crashes,
    };
  }

  /** Ends everything: waiting calls are refused, running ones die. */
  close(): void {
    this.closed = true;
    for (const waiting of this.queue.drain()) {
      waiting.stopWaiting();
      waiting.settle({ kind: "refused", text: "the server is shutting down" });
    }
    for (const thread of this.running.keys())
      this.end(thread, { kind: "refused", text: "the server is shutting down" });
    for (const thread of this.threads) thread.kill();
    this.idle.length = 0;
  }

  private watchWaiting(waiting: Waiting): void {
    const { job, settle } = waiting;
    const giveUp = () => {
      waiting.stopWaiting();
      if (!this.queue.remove(job.key, waiting)) return;
      this.timeouts++;
      settle({ kind: "timeout", phase: "waiting", stderr: "" });
    };
    const cancelTimer = Number.isFinite(job.deadline)
      ? this.clock.after(Math.max(0, job.deadline - this.clock.now()), giveUp)
      : () => {};
    job.signal?.addEventListener("abort", giveUp, { once: true });
    waiting.stopWaiting = () => {
      cancelTimer();
      job.signal?.removeEventListener("abort", giveUp);
    };
  }

  /** Gives waiting jobs to threads as long as both are there. */
  private pump(): void {
    while (!this.closed && this.queue.size > 0 && this.lanes.regular < this.size) {
      const thread = this.idle.pop();
      if (!thread) break;
      const waiting = this.queue.take((key) => (this.slowByKey.get(key) ?? 0) < SLOW_PER_POLICY * this.size);
      if (!waiting) {
        this.idle.push(thread);
        break;
      }
      waiting.taken = true;
      waiting.stopWaiting();
      this.start(thread, waiting);
    }
    this.refill();
  }

  /** Starts threads: one for every waiting job that has a slot, and the spares. */
  private refill(): void {
    if (this.closed) return;
    const free = Math.max(0, this.size - this.lanes.regular);
    const wanted = Math.min(this.queue.size, free) + SPARE_THREADS;
    const most = this.size * (1 + SLOW_IN_ALL) + PARKED_IN_ALL + SPARE_THREADS;
    while (this.idle.length + this.starting < wanted && this.threads.size < most) this.spawn();
  }

  private spawn(): void {
    this.starting++;
    const thread: GuestThread = new GuestThread([...this.modes], {
      ready: () => {
        this.starting--;
        this.idle.push(thread);
        this.pump();
      },
      message: (message) => this.receive(thread, message),
      gone: (reason) => {
        this.threads.delete(thread);
        const at = this.idle.indexOf(thread);
        if (at >= 0) this.idle.splice(at, 1);
        if (this.running.has(thread)) {
          this.crashes++;
          this.recycled++;
          this.end(thread, { kind: "crash", text: reason });
        }
        if (thread.ready) return this.pump();
        this.starting--;
        this.crashes++;
        this.clock.after(RESTART_AFTER_MS, () => this.pump());
      },
    });
    this.threads.add(thread);
  }

  private start(thread: GuestThread, { job, settle }: Waiting): void {
    const now = this.clock.now();
    const running: Running = {
      job,
      settle,
      started: now,
      resumed: now,
      lane: "regular",
      cancelTimer: () => {},
    };
    this.running.set(thread, running);
    this.lanes.regular++;
    this.arm(thread, running);
    const { mode, call, limits } = job;
    thread.run(job.module, { mode, call, limits });
  }

  /** Sets the timer for whatever comes next in the life of a running job. */
  private arm(thread: GuestThread, running: Running): void {
    const { job, started, resumed } = running;
    const end = Math.min(
      job.timeoutMs === undefined ? Number.POSITIVE_INFINITY : started + job.timeoutMs,
      job.deadline,
    );
    const age = this.clock.now() - resumed;
    const suspect = (this.suspects.get(job.key) ?? 0) >= SUSPECT_TIMEOUTS;
    const slowAfter = suspect ? SUSPECT_AFTER_MS : SLOW_AFTER_MS;
    const halfTime = Math.min((end - started) / 2, LONGEST_PATIENCE_MS);
    const demoteAfter = suspect ? SUSPECT_AFTER_MS : Math.max(DEMOTE_AFTER_MS, halfTime);
    const steps = [slowAfter, demoteAfter].filter((step) => step > age);
    // No room among the slow ones yet: another try later.
    if (age >= slowAfter && running.lane === "regular") steps.push(age + SLOW_AFTER_MS);
    const at = Math.min(end, resumed + Math.min(...steps));
    if (!Number.isFinite(at)) return;
    running.cancelTimer = this.clock.after(Math.max(0, at - this.clock.now()), () => {
      if (this.clock.now() >= end) return this.expire(thread);
      const grown = this.clock.now() - resumed;
      if (grown >= slowAfter && running.lane === "regular" && this.lanes.slow < SLOW_IN_ALL * this.size)
        this.move(running, "slow");
      if (grown >= demoteAfter && running.lane !== "parked" && !thread.demoted) {
        thread.demote();
        if (job.signal?.aborted) return this.abandon(thread, running);
        job.signal?.addEventListener("abort", () => this.abandon(thread, running), { once: true });
      }
      this.arm(thread, running);
      this.pump();
    });
  }

  private expire(thread: GuestThread): void {
    this.timeouts++;
    this.recycled++;
    const key = this.running.get(thread)?.job.key;
    if (key !== undefined) this.suspects.set(key, (this.suspects.get(key) ?? 0) + 1);
    const { phase } = thread.control;
    const stderr = thread.control.stderr();
    this.kill(thread, { kind: "timeout", phase, stderr });
  }

  /** Nobody waits for a call whose thread won't be used again. */
  private abandon(thread: GuestThread, running: Running): void {
    if (this.running.get(thread) !== running) return;
    this.recycled++;
    this.kill(thread, { kind: "refused", text: "nobody waits for the answer any more" });
  }

  /** Ends a job together with its thread. */
  private kill(thread: GuestThread, result: JobResult): void {
    thread.kill();
    this.threads.delete(thread);
    this.end(thread, result);
    this.pump();
  }

  private move(running: Running, lane: Lane): void {
    const { key } = running.job;
    this.lanes[running.lane]--;
    if (running.lane === "slow") this.countSlow(key, -1);
    running.lane = lane;
    this.lanes[lane]++;
    if (lane === "slow") this.countSlow(key, 1);
  }

  private countSlow(key: string, change: number): void {
    const count = (this.slowByKey.get(key) ?? 0) + change;
    if (count > 0) this.slowByKey.set(key, count);
    else this.slowByKey.delete(key);
  }

  private receive(thread: GuestThread, message: Exclude<FromWorker, { type: "ready" }>): void {
    const running = this.running.get(thread);
    if (!running) return;
    if (message.type === "log") running.job.onLog(message);
    else if (message.type === "host-call") void this.serve(thread, running, message);
    else this.finish(thread, message.result);
  }

  /** A job is done: its thread rests, or goes when it is of no further use. */
  private finish(thread: GuestThread, result: GuestResult): void {
    const key = this.running.get(thread)?.job.key;
    if (key !== undefined) this.suspects.delete(key);
    this.end(thread, result);
    if (thread.demoted || this.closed || this.idle.length > this.size + SPARE_THREADS) {
      if (thread.demoted) this.recycled++;
      this.threads.delete(thread);
      thread.kill();
    } else {
      thread.rest();
      this.idle.push(thread);
    }
    this.pump();
  }

  /** Serves a host call; the guest's time goes on, its slot is free meanwhile. */
  private async serve(thread: GuestThread, running: Running, message: HostCallMessage): Promise<void> {
    const before = running.lane;
    if (this.lanes.parked < PARKED_IN_ALL) {
      this.move(running, "parked");
      this.pump();
    }
    running.killed ??= new AbortController();
    const answer = await running.job.onHostCall(message, running.killed.signal);
    if (this.running.get(thread) !== running) return;
    if (running.lane === "parked") this.move(running, before);
    running.resumed = this.clock.now();
    running.cancelTimer();
    this.arm(thread, running);
    thread.answer(answer);
  }

  /** Takes a job off its thread and settles it. */
  private end(thread: GuestThread, result: JobResult): void {
    const running = this.running.get(thread);
    if (!running) return;
    running.cancelTimer();
    this.running.delete(thread);
    this.lanes[running.lane]--;
    if (running.lane === "slow") this.countSlow(running.job.key, -1);
    running.killed?.abort();
    running.settle(result);
  }
}
