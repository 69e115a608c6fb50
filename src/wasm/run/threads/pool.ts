/**
 * The pool of threads, for calls that the main thread does not run itself. A guest ends itself at its deadline; nothing here ends one. A long call
 * leaves its slot to others and rests for them; one that waits for the host occupies a thread but no slot (`slots.ts`). Calls of policies that time
 * out begin as long ones. docs/design/guest-threads.md has a drawing.
 */
import { availableParallelism } from "node:os";
import type { ExecutionMode, HostAnswer, Phase } from "../guest/call.js";
import type { CallReport, HostCallMessage, ResultMessage } from "../worker/messages.js";
import { sharedClock } from "../worker/shared-clock.js";
import { SharedShares } from "../worker/shares.js";
import type { Clock } from "./clock.js";
import { FairQueue } from "./fair-queue.js";
import { History } from "./history.js";
import type { Job, JobResult, ThreadEnd, Waiting } from "./job.js";
import { mainLoad, sharesOf } from "./shares.js";
import { type Place, Slots } from "./slots.js";
import type { PoolStatus } from "./status.js";
import type { GuestThread } from "./thread.js";
import { ThreadSet } from "./thread-set.js";

/** Most waiting calls. Each waits no longer than its request's deadline; more of them would be an attack on memory. */
const MAX_WAITING = 10_000;
/** Milliseconds between two checks of all calls. */
const TICK_MS = 5;
/** Milliseconds after which a call is long: few take as many, and waiting ones should not wait for one that does. */
const LONG_AFTER_MS = 10;
/** Milliseconds after which the pool checks whether the answer is still needed: the caller's signal is made for it. */
const ASKED_AFTER_MS = 25;
/** Milliseconds that a thread's report may be late: it is in a host function, or the engine compiles. After that the caller gets its answer anyway. */
const GRACE_MS = 15;
const TIMED_OUT_WAITING: JobResult = { kind: "timeout", phase: "waiting", stderr: "" };
const ABANDONED: JobResult = { kind: "refused", text: "the caller no longer waits for the answer" };
const SHUTTING_DOWN: JobResult = { kind: "refused", text: "the server is shutting down" };

/** A call on a thread. */
interface Running extends Waiting {
  readonly thread: GuestThread;
  /** Its end, on the pool's clock. */
  readonly end: number;
  /** Whether the last calls of its policy timed out. */
  readonly isLate: boolean;
  place: Place;
  /** The time at which it last began to compute: at its start, or with the host's last answer. */
  resumed: number;
  /** Whether the caller has its result before the thread has reported. */
  isSettled: boolean;
  /** Aborted when the call ends; made with its first host call. */
  ended?: AbortController;
  /** The host's answer, while the call waits for a place. */
  answer?: HostAnswer;
}

/** Properties of the machine. */
export interface PoolOptions {
  /** Default: those that the process may run on. */
  readonly processors?: number;
  /** Load of the main thread, 0 to 1. */
  readonly mainLoad?: () => number;
}

/** A pool of `size` slots. */
export class WorkerPool {
  readonly #queue = new FairQueue<Waiting>();
  readonly #running = new Map<GuestThread, Running>();
  readonly #modes = new Set<ExecutionMode>();
  readonly #history: History;
  readonly #slots: Slots;
  readonly #shares = SharedShares.create();
  readonly #threads: ThreadSet;
  readonly #clock: Clock;
  readonly #sharedClock = sharedClock();
  readonly #processors: number;
  /** Threads that start at a time: a start takes 30 ms of a processor from all others. */
  readonly #mostStarting: number;
  readonly #measureMain: () => number;
  #mainLoad = 1;
  #cancelTick: (() => void) | undefined;
  #timeouts = 0;
  #closed = false;

  constructor(size: number, clock: Clock, options: PoolOptions = {}) {
    this.#clock = clock;
    this.#processors = options.processors ?? availableParallelism();
    this.#mostStarting = Math.max(1, Math.floor(this.#processors / 2));
    this.#measureMain = options.mainLoad ?? mainLoad();
    this.#history = new History(() => clock.now());
    this.#slots = new Slots(size);
    this.#threads = new ThreadSet(this.#modes, this.#shares, clock, {
      available: () => this.#pump(),
      report: (thread, report) => this.#receive(thread, report),
      crashed: (thread, end) => this.#crash(thread, end),
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
      this.#queue.push(job.key, { job, settle });
      this.#pump();
      this.#watch();
    });
  }

  status(): PoolStatus {
    return {
      threads: this.#threads.threadCount,
      idle: this.#threads.idleCount,
      running: this.#running.size,
      waiting: this.#queue.size,
      timeouts: this.#timeouts,
      crashes: this.#threads.crashes,
    };
  }

  /** Ends all threads; running and waiting calls are refused. */
  close(): void {
    this.#closed = true;
    this.#cancelTick?.();
    for (const { settle } of this.#queue.drain()) settle(SHUTTING_DOWN);
    for (const running of this.#running.values()) this.#settle(running, SHUTTING_DOWN);
    this.#running.clear();
    this.#threads.close();
  }

  /** Gives places and threads to calls that wait for them, while there are both. */
  #pump(): void {
    if (this.#closed) return;
    for (const running of this.#running.values()) if (running.answer) this.#resume(running, running.answer);
    for (let thread = this.#threads.idleThread; thread; thread = this.#threads.idleThread) {
      const next = this.#queue.take(this.#mayBegin);
      if (!next) break;
      this.#begin(thread, next);
    }
    if (this.#queue.someKey(this.#mayBegin)) {
      const wanted = Math.max(1, Math.min(this.#queue.size, this.#slots.free));
      this.#threads.start(Math.min(wanted, this.#mostStarting));
    }
    this.#publish();
  }

  /** Whether a call of this policy may begin now. */
  readonly #mayBegin = (policy: string): boolean =>
    this.#slots.mayEnter(this.#history.timesOut(policy) ? "long" : "slot", policy);

  #begin(thread: GuestThread, { job, settle }: Waiting): void {
    const now = this.#clock.now();
    const end = Math.min(now + (job.timeoutMs ?? Number.POSITIVE_INFINITY), job.deadline);
    const isLate = this.#history.timesOut(job.key);
    const place = isLate ? "long" : "slot";
    this.#threads.take(thread);
    this.#slots.enter(place, job.key);
    this.#running.set(thread, { job, settle, thread, end, isLate, place, resumed: now, isSettled: false });
    const deadline = this.#sharedClock() + end - now;
    const earlyMs = job.onState
      ? this.#history.earlyMsOfState(job.key)
      : this.#history.earlyMs(job.key, job.isCheck === true);
    thread.begin(job, { deadline, earlyMs });
  }

  #receive(thread: GuestThread, report: CallReport): void {
    const running = this.#running.get(thread);
    if (!running) return;
    if (report.type === "result") this.#finish(running, report);
    else if (running.isSettled) return;
    else if (report.type === "log") running.job.onLog(report);
    else if (report.type === "state") running.job.onState?.(report.found);
    else void this.#serve(running, report);
  }

  #finish(running: Running, { result, computedMs }: ResultMessage): void {
    const { thread, job } = running;
    if (result.kind === "ended") this.#timeOut(running, result.phase, result.stderr);
    else {
      // Capturing a state is many calls: it says nothing about the duration of one.
      if (!job.onState) this.#history.ended(job.key, computedMs);
      job.onComputed?.(computedMs);
      this.#settle(running, result);
    }
    this.#free(running);
    this.#threads.release(thread);
    this.#pump();
  }

  #crash(thread: GuestThread, end: ThreadEnd): void {
    const running = this.#running.get(thread);
    if (!running) return;
    this.#settle(running, { kind: "crash", ...end });
    this.#free(running);
  }

  #timeOut(running: Running, phase: Phase, stderr: string): void {
    if (running.isSettled) return;
    this.#timeouts++;
    this.#history.timedOut(running.job.key);
    this.#settle(running, { kind: "timeout", phase, stderr });
  }

  /** Answers the caller; the first answer counts. */
  #settle(running: Running, result: JobResult): void {
    if (running.isSettled) return;
    running.isSettled = true;
    running.ended?.abort();
    running.settle(result);
  }

  /** Frees the thread of a call. */
  #free({ thread, place, job }: Running): void {
    this.#running.delete(thread);
    this.#slots.leave(place, job.key);
  }

  /** Checks all calls every few milliseconds, while there are any. */
  #watch(): void {
    if (this.#cancelTick || this.#closed) return;
    this.#cancelTick = this.#clock.after(TICK_MS, () => {
      this.#cancelTick = undefined;
      const now = this.#clock.now();
      this.#mainLoad = this.#measureMain();
      for (const running of this.#running.values()) this.#check(running, now);
      const isGone = ({ job }: Waiting) => now >= job.deadline || job.isAborted?.() === true;
      for (const { settle } of this.#queue.sweep(isGone)) {
        this.#timeouts++;
        settle(TIMED_OUT_WAITING);
      }
      this.#pump();
      if (this.#running.size + this.#queue.size > 0) this.#watch();
    });
  }

  #check(running: Running, now: number): void {
    const { job, thread, place, end } = running;
    const age = now - running.resumed;
    if (now >= end + GRACE_MS) this.#timeOut(running, thread.phase, "");
    else if ((age >= ASKED_AFTER_MS || place === "host") && !running.isSettled && job.isAborted?.() === true)
      this.#giveUp(running);
    if (place === "slot" && age >= LONG_AFTER_MS && this.#slots.hasRoomForLong) this.#move(running, "long");
  }

  /** Gives up a call whose answer is no longer needed: the guest ends itself at its next check. */
  #giveUp(running: Running): void {
    running.thread.abort();
    this.#settle(running, ABANDONED);
  }

  #move(running: Running, place: Place): void {
    this.#slots.leave(running.place, running.job.key);
    running.place = place;
    this.#slots.enter(place, running.job.key);
  }

  /** Serves a host call. The guest's time limit continues; its place is free meanwhile. */
  async #serve(running: Running, message: HostCallMessage): Promise<void> {
    const { job, thread } = running;
    if (job.isAborted?.() === true) {
      this.#giveUp(running);
      return;
    }
    if (this.#slots.mayWaitForHost(job.key)) {
      this.#move(running, "host");
      this.#pump();
    }
    running.ended ??= new AbortController();
    const answer = await job.onHostCall(message, running.ended.signal);
    // The call may have ended meanwhile, and the thread may have another one.
    if (this.#running.get(thread) !== running) return;
    if (running.place === "host") running.answer = answer;
    else thread.answer(answer);
    this.#pump();
  }

  /** Gives a call that waited for the host its answer, when there is a place for it. */
  #resume(running: Running, answer: HostAnswer): void {
    const place = running.isLate ? "long" : "slot";
    if (!this.#slots.mayEnter(place, running.job.key)) return;
    this.#move(running, place);
    running.resumed = this.#clock.now();
    delete running.answer;
    running.thread.answer(answer);
  }

  /** Publishes the shares of long calls. */
  #publish(): void {
    let [long, late] = [0, 0];
    for (const { place, isLate } of this.#running.values()) {
      if (place !== "long") continue;
      if (isLate) late++;
      else long++;
    }
    const short = this.#slots.taken + this.#threads.startingCount;
    const demand = { processors: this.#processors, main: this.#mainLoad, short, long, late };
    this.#shares.publish(sharesOf(demand));
  }
}
