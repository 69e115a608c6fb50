import { Worker } from "node:worker_threads";
import { errorText } from "../../../data/error-text.js";
import type { GuestLimits } from "../../limits.js";
import { sizeOf } from "../../rewrite/snapshot/memory-snapshot.js";
import type { ExecutionMode, GuestModule, HostAnswer } from "../guest/call.js";
import { ControlBlock } from "../worker/control-block.js";
import type { CallReport, FromWorker, ToWorker, WorkerStart } from "../worker/messages.js";
import type { SharedShares } from "../worker/shares.js";
import type { ThreadAllowance } from "../worker/thread-budget.js";
import type { Job, ThreadEnd } from "./job.js";

const ENTRY = new URL("../worker/main.js", import.meta.url);
/** Most modules of a worker; each holds compiled code. A server with more of them sends the least used ones again when they are needed. */
const KNOWN_MODULES = 256;
/**
 * Bytes of their snapshots. Threads share them with the served policies, but also hold those of replaced policies: four of the greatest size, or a
 * hundred of a usual one. Sending a module again copies none of them.
 */
const KNOWN_IMAGE_BYTES = 128 * 1024 * 1024;
/** MiB of JavaScript heap of a worker: it holds a request's text, an answer's text, and for Rego the parsed documents. */
const HEAP_MIB = 256;
/**
 * MiB of its young generation, a fraction of the usual: an instance's objects live as long as the instance, so that a large young generation only
 * makes one long pause for copying, 20 ms on a busy core.
 */
const YOUNG_HEAP_MIB = 3;
/** MiB of stack: V8's own default for workers; a guest that recurses without end overflows it and traps. */
const STACK_MIB = 4;

/** Events of a thread for its pool. */
export interface ThreadEvents {
  /** It can take its first call. */
  ready(): void;
  /** Receives reports about its call. */
  report(report: CallReport): void;
  /** The thread has ended; by itself or killed. */
  ended(end: ThreadEnd): void;
}

/** One worker thread. It runs one call at a time. */
export class GuestThread {
  readonly #control = ControlBlock.create();
  readonly #worker: Worker;
  /** Bytes of their images by ids of modules the worker has, least recently used first. */
  readonly #known = new Map<number, number>();
  /** Bytes of all of them. */
  #knownBytes = 0;
  #ticket = 0;

  /** @param modes kinds of guests to be ready for */
  constructor(modes: readonly ExecutionMode[], shares: SharedShares, events: ThreadEvents) {
    const start: WorkerStart = { control: this.#control.buffer, shares: shares.buffer, modes };
    this.#worker = new Worker(ENTRY, {
      workerData: start,
      // A thread that runs foreign code gets none of the server's environment or flags.
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
      if (message.type !== "ready") events.report(message);
      else {
        // Until here it keeps the process alive, because a call may be waiting for it; from now on only while it runs one.
        this.#worker.unref();
        events.ready();
      }
    });
    this.#worker.on("error", (error: unknown) => {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      const outOfMemory = code === "ERR_WORKER_OUT_OF_MEMORY";
      // Any other end of a thread is a defect of ours, and its message may name files.
      const whole = errorText(error);
      end = outOfMemory ? { text: whole, outOfMemory } : { text: "the worker thread failed", outOfMemory, whole };
    });
    this.#worker.on("exit", () => events.ended(end));
  }

  /** The phase of its guest: making the instance, or in the call. */
  get phase() {
    return this.#control.phase;
  }

  /** Posts a call, with the module when the worker does not have it yet. The thread must be idle. */
  begin({ module, call, limits, moment }: Job, allowance: Omit<ThreadAllowance, "ticket">): void {
    this.#worker.ref();
    const known = this.#known.get(module.id);
    if (known === undefined) this.#add(module, limits);
    else {
      this.#known.delete(module.id);
      this.#known.set(module.id, known);
    }
    this.#ticket++;
    this.#post({
      type: "call",
      ticket: this.#ticket,
      moduleId: module.id,
      call,
      ...(moment && { moment }),
      ...allowance,
    });
  }

  /** Marks the thread as idle: it no longer keeps the process alive. */
  rest(): void {
    this.#worker.unref();
    for (const [id, bytes] of this.#known) {
      // The last one is the module of the current call.
      if (this.#known.size === 1) break;
      if (this.#known.size <= KNOWN_MODULES && this.#knownBytes <= KNOWN_IMAGE_BYTES) break;
      this.#known.delete(id);
      this.#knownBytes -= bytes;
      this.#post({ type: "forget", moduleId: id });
    }
  }

  /** Posts a host call's answer and wakes the guest. */
  answer(answer: HostAnswer): void {
    this.#post({ type: "answer", ticket: this.#ticket, answer });
    this.#control.wake();
  }

  /** Gives up the call: its guest ends itself at its next check. */
  abort(): void {
    this.#control.abort(this.#ticket);
  }

  /** Ends the thread, whatever it does. */
  end(): void {
    void this.#worker.terminate();
  }

  #add(module: GuestModule, limits: GuestLimits): void {
    const bytes = module.image ? sizeOf(module.image) : 0;
    this.#known.set(module.id, bytes);
    this.#knownBytes += bytes;
    this.#post({ type: "module", module: shared(module), limits });
  }

  #post(message: ToWorker): void {
    this.#worker.postMessage(message);
  }
}

/** The part of a module that the worker needs: a prepared module has more, and posted data is copied. */
function shared({
  id,
  module,
  mode,
  importedMemory,
  image,
  marking,
  isResettable,
  state,
  linked,
}: GuestModule): GuestModule {
  return {
    id,
    module,
    mode,
    ...(importedMemory && { importedMemory }),
    ...(image && { image }),
    ...(marking && { marking }),
    ...(isResettable && { isResettable }),
    ...(state && { state }),
    ...(linked && { linked }),
  };
}
