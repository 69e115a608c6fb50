import { setPriority } from "node:os";
import { Worker } from "node:worker_threads";
import { errorText } from "../../data/error-text.js";
import { ControlBlock } from "../worker/control-block.js";
import { MAILBOX_SLOTS, Mailbox } from "../worker/mailbox.js";
import type {
  ContentMessage,
  ExecutionMode,
  FromWorker,
  GuestModule,
  GuestResult,
  HostAnswer,
  ToWorker,
  WorkerStart,
} from "../worker/messages.js";
import type { Assigned, ThreadEnd, Waiting } from "./job.js";
import type { SlotKind } from "./slots.js";

const ENTRY = new URL("../worker/main.js", import.meta.url);
/** Modules a worker keeps; each holds compiled code. A server with more of them sends those used least again when they are needed. */
const KNOWN_MODULES = 256;
/** MiB of JavaScript heap of a worker: it holds a request's text, an answer's text, and for Rego the parsed documents. */
const HEAP_MIB = 256;
/**
 * MiB of its young generation, a fraction of what is usual: what belongs to an instance lives as long as the instance, so that a large young
 * generation only means that much is copied in one pause, 20 ms on a busy core.
 */
const YOUNG_HEAP_MIB = 3;
/** MiB of stack: V8's own default for workers; a guest that recurses without end overflows it and traps. */
const STACK_MIB = 4;
/** Scheduling priority (`nice`) of a guest that takes long: a tenth of the others' weight. With less, an honest but slow guest would starve on a busy machine. */
export const LOW_PRIORITY = 10;
/** That of a guest which is likely to time out: it runs when nobody else wants the processor. */
export const LOWEST_PRIORITY = 19;

/** What a thread tells its pool. */
export interface ThreadEvents {
  /** It can take calls: for the first time, or again after an interruption. */
  ready(): void;
  /** There may be results. */
  signal(): void;
  message(message: Exclude<FromWorker, { type: "ready" | "signal" }>): void;
  /** The thread has ended; by itself or killed. */
  ended(end: ThreadEnd): void;
}

/** One worker thread. It runs its jobs one after another. */
export class GuestThread {
  /** In the order in which they run; the first one is running, or done and not collected yet. */
  readonly jobs: Assigned[] = [];
  /** The slot of its first job; without meaning while there is none. */
  slot: SlotKind = "regular";
  /** The operating system's `nice` value: higher numbers run later. It can't go down again without privileges. */
  priority = 0;
  readonly control = ControlBlock.create();
  readonly #mailbox = Mailbox.create();
  readonly #worker: Worker;
  /** Ids of modules the worker has, least recently used first. */
  readonly #known = new Map<number, true>();
  #taskId: number | undefined;
  #nudging = false;

  /** @param modes kinds of guests to be ready for */
  constructor(modes: readonly ExecutionMode[], events: ThreadEvents) {
    const start: WorkerStart = { control: this.control.buffer, mailbox: this.#mailbox.buffer, modes };
    this.#worker = new Worker(ENTRY, {
      workerData: start,
      // Nothing of the server's environment or flags reaches a thread that runs foreign code.
      env: {},
      execArgv: ["--disable-warning=ExperimentalWarning"],
      resourceLimits: {
        maxOldGenerationSizeMb: HEAP_MIB,
        maxYoungGenerationSizeMb: YOUNG_HEAP_MIB,
        stackSizeMb: STACK_MIB,
      },
    });
    let end: ThreadEnd = { text: "the worker thread ended", outOfMemory: false };
    this.#worker.on("message", (message: FromWorker) => {
      if (message.type === "signal") events.signal();
      else if (message.type === "ready") {
        // Until here it keeps the process alive, because a call may be waiting for it; from now on only while it runs one.
        this.#worker.unref();
        this.#taskId = message.taskId ?? this.#taskId;
        events.ready();
      } else events.message(message);
    });
    this.#worker.on("error", (error: unknown) => {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      const outOfMemory = code === "ERR_WORKER_OUT_OF_MEMORY";
      // Whatever else ends a thread is a mistake of ours, and its words may name files.
      const whole = errorText(error);
      end = outOfMemory ? { text: whole, outOfMemory } : { text: "the worker thread failed", outOfMemory, whole };
    });
    this.#worker.on("exit", () => events.ended(end));
  }

  /** The thread's number, by which the interrupter knows it. */
  get id(): number {
    return this.#worker.threadId;
  }

  /** Whether another job may be put. */
  hasRoom(): boolean {
    return this.jobs.length < MAILBOX_SLOTS && this.#mailbox.hasRoom();
  }

  /** Puts a job into the mailbox, with the module when the worker does not have it yet. */
  put({ job, settle, isRerun, heard }: Waiting, now: number): void {
    const { module, call, limits } = job;
    if (this.jobs.length === 0) this.#worker.ref();
    const has = this.#known.delete(module.id);
    this.#known.set(module.id, true);
    if (!has) this.#post({ type: "module", module: shared(module), limits });
    const { ticket, nudge } = this.#mailbox.put(module.id, call.operation, call.input, call.data, (large) => {
      const input = Buffer.from(call.input);
      this.#post({ type: "payload", ticket: large, input, ...(call.data && { data: Buffer.from(call.data) }) });
    });
    this.jobs.push({ job, settle, isRerun, heard, ticket, started: now, resumed: now, messages: 0 });
    if (nudge && !this.#nudging) {
      this.#nudging = true;
      setImmediate(this.#nudge);
    }
  }

  /** Runs after the requests that have come in at the same time: on a busy core the worker would otherwise take over after each one. */
  readonly #nudge = () => {
    this.#nudging = false;
    if (this.#mailbox.nudge()) this.#post({ type: "wake" });
  };

  /** From now on a new result is signalled again. To be called before results are collected. */
  acknowledge(): void {
    this.#mailbox.acknowledge();
  }

  /** The result of the first job, if it is there; the job is off the thread then. */
  collect(): { readonly assigned: Assigned; readonly result: GuestResult } | undefined {
    const assigned = this.jobs[0];
    if (!assigned) return undefined;
    const arrival = this.#mailbox.collect(assigned.ticket, assigned.messages);
    if (!arrival) return undefined;
    this.jobs.shift();
    const result = arrival.kind === "by-port" ? arrival.result(textOf(assigned.content ?? "")) : arrival;
    return { assigned, result };
  }

  /** Takes back the jobs behind the first one as {@link withdraw} does, and the first one unless it has begun. It stays on the list. */
  withdrawAll(): { readonly behind: Assigned[]; readonly first: boolean } {
    // In this order: when the first one has not begun by then, none of the others has.
    const behind = this.withdraw();
    const first = this.jobs[0];
    return { behind, first: first !== undefined && this.#mailbox.withdraw(first.ticket) };
  }

  /** Takes back the jobs behind the first one as far as they have not begun, in their order. */
  withdraw(): Assigned[] {
    const back: Assigned[] = [];
    for (const assigned of this.jobs.slice(1)) if (this.#mailbox.withdraw(assigned.ticket)) back.push(assigned);
    if (back.length > 0) {
      const rest = this.jobs.filter((assigned) => !back.includes(assigned));
      this.jobs.splice(0, this.jobs.length, ...rest);
    }
    return back;
  }

  /** The thread has no job left, and no longer keeps the process alive. */
  becomeIdle(): void {
    this.#worker.unref();
    for (const id of this.#known.keys()) {
      if (this.#known.size <= KNOWN_MODULES) break;
      this.#known.delete(id);
      this.#post({ type: "forget", moduleId: id });
    }
  }

  /** Posts a host call's answer and wakes the guest. */
  answer(ticket: number, answer: HostAnswer): void {
    this.#post({ type: "answer", ticket, answer });
    this.control.wake();
  }

  /** Lets other threads run first from now on. Works where threads have ids of their own (Linux); elsewhere nothing happens. */
  lowerPriority(priority: number): void {
    if (this.#taskId === undefined || this.priority >= priority) return;
    this.priority = priority;
    try {
      setPriority(this.#taskId, priority);
    } catch {
      // A sandbox forbids it: the guest competes with the others until its time is up.
    }
  }

  /** After an interruption: makes the thread take calls again, which it reports as ready. */
  resume(): void {
    this.#mailbox.reset();
    this.control.end();
    // Messages may be lost: taken off the port by the worker and not kept.
    this.#known.clear();
    this.#post({ type: "resume" });
  }

  /** Kills the thread, whatever it does. */
  kill(): void {
    void this.#worker.terminate();
  }

  #post(message: ToWorker): void {
    this.#worker.postMessage(message);
  }
}

function textOf(content: ContentMessage["content"]): string {
  return typeof content === "string"
    ? content
    : Buffer.from(content.buffer, content.byteOffset, content.length).toString();
}

/** Only what the worker needs: a prepared module has more, and everything posted is copied. */
function shared({ id, module, mode, importedMemory, linked }: GuestModule): GuestModule {
  return { id, module, mode, ...(importedMemory && { importedMemory }), ...(linked && { linked }) };
}
