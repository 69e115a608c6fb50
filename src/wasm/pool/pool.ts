/**
 * The worker pool. The main thread keeps the time limits: a call that passes its limit is answered at once, and its guest stopped.
 *
 * A busy thread has its next calls in its mailbox, so that it need not wait for the main thread between them. A guest that runs for long must cost
 * the others little: the calls behind it are given to other threads; it leaves its regular slot to another call; later its thread gets a low
 * priority, which it keeps, and the next calls of policies that time out repeatedly go to such threads. A guest that waits for the host occupies
 * a thread but no regular slot.
 *
 * Policies of which nothing is known are tried one or two at a time beside the regular slots. What takes long there is broken off, and run again from
 * its beginning on a thread of low priority: several that loop at once would else take all threads and processors, and to start more threads
 * takes a second then. A call of a policy that has answered before is broken off only when others find no thread. Each call is broken off at most
 * once, and not when it has asked the host for anything; log lines of its first run are not repeated.
 */
import type { ExecutionMode } from "../guest/call.js";
import type { FromWorker, HostCallMessage } from "../worker/messages.js";
import type { Clock } from "./clock.js";
import { FairQueue } from "./fair-queue.js";
import type { Assigned, Job, JobResult, Waiting } from "./job.js";
import { KnownPolicies } from "./known-policies.js";
import { RepeatedTimeouts } from "./repeated-timeouts.js";
import { MAX_SLOW, type SlotKind, Slots } from "./slots.js";
import type { PoolStatus } from "./status.js";
import { type GuestThread, LOW_PRIORITY, LOWEST_PRIORITY } from "./thread.js";
import { ThreadSet, type ThreadSetLimits } from "./thread-set.js";
import { BREAK_KNOWN_AFTER_MS, LONG_AFTER_MS, normalPriorityMs, SLOW_AFTER_MS, TICK_MS } from "./time-limits.js";

/** Waiting calls in all. Each waits no longer than its request's deadline; more of them are an attack on memory. */
const MAX_WAITING = 10_000;
const TIMED_OUT_WAITING: JobResult = { kind: "timeout", phase: "waiting", stderr: "" };
const ABANDONED: JobResult = { kind: "refused", text: "nobody waits for the answer any more" };
const SHUTTING_DOWN: JobResult = { kind: "refused", text: "the server is shutting down" };

/** A pool of `size` regular slots. */
export class WorkerPool {
  readonly #queue = new FairQueue<Waiting>();
  /** Calls that were broken off to make room, and wait for a thread of low priority. */
  readonly #reruns = new FairQueue<Waiting>();
  readonly #known = new KnownPolicies();
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
        for (const { settle } of [...this.#queue.drain(), ...this.#reruns.drain()])
          settle({ kind: "refused", text: `no worker thread starts: ${reason}` });
      },
    });
  }

  /** Runs a job; never rejects. */
  run(job: Job): Promise<JobResult> {
    return new Promise((settle) => {
      if (this.#closed) return settle(SHUTTING_DOWN);
      if (this.#queue.size + this.#reruns.size >= MAX_WAITING)
        return settle({ kind: "refused", text: "too many policy calls are waiting" });
      this.#modes.add(job.module.mode);
      const waiting: Waiting = { job, settle, isRerun: false, heard: 0 };
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
      waiting: this.#queue.size + this.#reruns.size + assigned - this.#active.size,
      recycled: this.#threads.recycled,
      timeouts: this.#timeouts,
      crashes: this.#threads.crashes,
    };
  }

  /** Kills all threads; running and waiting calls are refused. */
  close(): void {
    this.#closed = true;
    this.#cancelTick?.();
    for (const { settle } of [...this.#queue.drain(), ...this.#reruns.drain()]) settle(SHUTTING_DOWN);
    for (const thread of this.#active)
      for (const assigned of thread.jobs.splice(0)) this.#settle(assigned, SHUTTING_DOWN);
    this.#active.clear();
    this.#threads.close();
  }

  /** Gives a job to a thread unless others wait before it. */
  #assignAtOnce(waiting: Waiting): boolean {
    const { job } = waiting;
    if (this.#queue.size > 0 || !this.#mayRun(job)) return false;
    const isKnown = this.#isKnown(job);
    const thread = isKnown ? this.#regularThread() : this.#trialThread();
    if (thread) this.#assign(thread, waiting, isKnown ? "regular" : "trial");
    return thread !== undefined;
  }

  /** Gives waiting jobs to threads as long as there is room for both. */
  #pump(): void {
    if (this.#closed) return;
    while (this.#queue.size > 0) {
      const [regular, trial] = [this.#regularThread(), this.#trialThread()];
      if (!regular && !trial) break;
      const next = this.#queue.take(
        (_, { job }) => this.#mayRun(job) && (this.#isKnown(job) ? regular : trial) !== undefined,
      );
      const isKnown = next && this.#isKnown(next.job);
      const thread = isKnown ? regular : trial;
      if (!next || !thread) break;
      this.#assign(thread, next, isKnown ? "regular" : "trial");
    }
    this.#pumpSlow(this.#reruns, LOW_PRIORITY, () => true);
    this.#pumpSlow(this.#queue, LOWEST_PRIORITY, (key) => this.#repeatedTimeouts.has(key) && !this.#reruns.has(key));
    this.#threads.refill(
      Math.min(this.#queue.size, this.#slots.free),
      this.#reruns.size > 0 && this.#slots.hasRoom("slow"),
    );
  }

  /** Gives jobs to threads of low priority. */
  #pumpSlow(queue: FairQueue<Waiting>, priority: number, eligible: (key: string) => boolean): void {
    while (queue.size > 0 && this.#slots.hasRoom("slow")) {
      const thread = this.#threads.lowPriorityThread;
      const next = thread && queue.take((key) => eligible(key) && !this.#slots.hasMaxSlow(key));
      if (!next) break;
      thread.lowerPriority(priority);
      this.#assign(thread, next, "slow");
    }
  }

  /** Whether a job may run elsewhere than on a thread of low priority. */
  #mayRun({ key }: Job): boolean {
    return (
      !this.#repeatedTimeouts.has(key) &&
      !this.#slots.hasMaxSlow(key) &&
      (!this.#reruns.has(key) || this.#known.has(key))
    );
  }

  /** Whether it is likely that the job ends by itself. */
  #isKnown({ key, isCheck }: Job): boolean {
    return isCheck !== true && this.#known.has(key);
  }

  /** A thread for a call of a policy of which nothing is known. */
  #trialThread(): GuestThread | undefined {
    const idle = this.#threads.idleRegularCount;
    return this.#slots.mayTry(this.#reruns.size > 0 ? 1 : idle) ? this.#threads.idleThread : undefined;
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
      if (done.assigned.job.isCheck !== true) this.#known.add(policy);
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

  /** Takes all jobs off a thread: returns the first one and puts the others back into the queue. */
  #clear(thread: GuestThread): Assigned | undefined {
    this.#active.delete(thread);
    const [first, ...others] = thread.jobs.splice(0);
    if (first) this.#slots.leave(thread.slot, first.job.key);
    this.#putBack(others);
    return first;
  }

  #endFirst(thread: GuestThread, result: JobResult): void {
    const first = this.#clear(thread);
    if (first) this.#settle(first, result);
  }

  #putBack(assigned: readonly Waiting[]): void {
    for (const { job, settle, isRerun, heard } of [...assigned].reverse())
      this.#queue.putBack(job.key, { job, settle, isRerun, heard });
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
      const isGone = ({ job }: Waiting) => now >= job.deadline || job.isAborted?.() === true;
      for (const { settle } of [...this.#queue.sweep(isGone), ...this.#reruns.sweep(isGone)]) {
        this.#timeouts++;
        settle(TIMED_OUT_WAITING);
      }
      this.#pump();
      this.#makeRoom(now);
      if (this.#active.size + this.#queue.size + this.#reruns.size > 0) this.#watch();
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
        this.#known.delete(job.key);
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
    const isTrial = thread.slot === "trial";
    if (age >= SLOW_AFTER_MS && isTrial && this.#mayBreakOff(thread) && (job.isCheck !== true || this.#isShortOf(2))) {
      this.#breakOff(thread);
      return;
    }
    if (age >= SLOW_AFTER_MS && (isTrial || thread.slot === "regular") && this.#slots.hasRoom("slow"))
      this.#move(thread, job, "slow");
    if (age >= normalPriorityMs(job.isCheck === true, end - started) && thread.slot !== "hostCall")
      thread.lowerPriority(LOW_PRIORITY);
  }

  /** Breaks off the youngest slow call when others wait and no thread is left: to start another one takes long while guests use the processors. */
  #makeRoom(now: number): void {
    if (this.#threads.isExpectingThread || !this.#isShortOf(1)) return;
    let youngest: GuestThread | undefined;
    for (const thread of this.#active) {
      const resumed = thread.jobs[0]?.resumed ?? now;
      if (now - resumed < BREAK_KNOWN_AFTER_MS || thread.slot === "hostCall" || !this.#mayBreakOff(thread)) continue;
      if (resumed >= (youngest?.jobs[0]?.resumed ?? 0)) youngest = thread;
    }
    if (youngest) this.#breakOff(youngest);
  }

  /** Whether fewer threads are idle than that, and requests wait for one. */
  #isShortOf(threads: number): boolean {
    if (this.#threads.idleRegularCount >= threads) return false;
    return this.#queue.someNext(({ job }) => job.isCheck !== true && this.#mayRun(job));
  }

  /** Whether the thread is of use to others, and its call can run again: it has not been broken off before, and has asked the host nothing. */
  #mayBreakOff(thread: GuestThread): boolean {
    const [first] = thread.jobs;
    if (thread.priority > 0 || !first || first.isRerun || first.killed) return false;
    return this.#threads.canInterrupt(thread, first.job.module.mode);
  }

  /** Takes a call off its thread; it will run from its beginning on a thread of low priority. */
  #breakOff(thread: GuestThread): void {
    const { behind, first: notStarted } = thread.withdrawAll();
    this.#putBack(behind);
    const isAlone = thread.jobs.length === 1;
    const first = this.#clear(thread);
    if (!first) return;
    const { job, settle, messages } = first;
    if (notStarted) this.#putBack([first]);
    else this.#reruns.push(job.key, { job, settle, isRerun: true, heard: messages });
    this.#free(thread, notStarted, isAlone, job.module.mode);
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
    this.#free(thread, notStarted, isAlone, module.mode);
  }

  /** Makes a thread whose jobs were taken off it ready for others. */
  #free(thread: GuestThread, notStarted: boolean, isAlone: boolean, mode: ExecutionMode): void {
    if (notStarted) this.#threads.release(thread);
    else if (isAlone) this.#threads.stop(thread, mode);
    // An interruption could strike the next call, or the loading of its module.
    else this.#threads.replace(thread);
  }

  #receive(thread: GuestThread, message: Exclude<FromWorker, { type: "ready" | "signal" }>): void {
    const assigned = thread.jobs.find(({ ticket }) => ticket === message.ticket);
    if (!assigned) return;
    assigned.messages++;
    if (message.type === "host-call") void this.#serve(thread, assigned, message);
    else if (message.type === "content") assigned.content = message.content;
    else if (assigned.messages > assigned.heard) assigned.job.onLog(message);
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
