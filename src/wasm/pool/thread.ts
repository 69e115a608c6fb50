/** The main thread's end of one worker thread. */
import { setPriority } from "node:os";
import { Worker } from "node:worker_threads";
import { ControlBlock } from "../worker/control-block.js";
import type {
  ExecutionMode,
  FromWorker,
  GuestModule,
  HostAnswer,
  RunMessage,
  ToWorker,
  WorkerStart,
} from "../worker/messages.js";

const ENTRY = new URL("../worker/main.js", import.meta.url);
/** Modules a worker keeps at hand; each holds its compiled code alive. A server with more different modules sends the rest again. */
const KNOWN_MODULES = 256;
/** MiB of JavaScript heap of a worker: it holds a request's text, an answer's text, and for Rego the parsed documents. */
const HEAP_MIB = 256;
/** MiB of stack: V8's own default for workers; a guest that recurses without end overflows it and traps. */
const STACK_MIB = 4;
/** A runaway guest's scheduling priority: a tenth of the others' weight. With less, an honest but slow guest would starve on a busy machine. */
const LOW_PRIORITY = 10;

/** What a thread tells its pool. */
export interface ThreadEvents {
  ready(): void;
  message(message: Exclude<FromWorker, { type: "ready" }>): void;
  /** The thread is gone; `reason` says why when it went by itself. */
  gone(reason: string): void;
}

/** One worker thread. It runs one job at a time; the pool knows which. */
export class GuestThread {
  readonly control = ControlBlock.create();
  ready = false;
  /** True once the thread's priority was lowered, which can't be undone. */
  demoted = false;
  private readonly worker: Worker;
  /** Ids of modules the worker has, least recently used first. */
  private readonly known = new Map<number, true>();
  private taskId: number | undefined;

  /** @param modes kinds of guests to be ready for */
  constructor(modes: readonly ExecutionMode[], events: ThreadEvents) {
    const start: WorkerStart = { control: this.control.buffer, modes };
    this.worker = new Worker(ENTRY, {
      workerData: start,
      // Nothing of the server's environment or flags reaches a thread that runs foreign code.
      env: {},
      execArgv: ["--disable-warning=ExperimentalWarning"],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB, stackSizeMb: STACK_MIB },
    });
    let reason = "the worker thread ended";
    this.worker.on("message", (message: FromWorker) => {
      if (message.type === "ready") {
        this.ready = true;
        // Until here it keeps the process alive, because a call may be waiting for it; from now on only while it runs one.
        this.worker.unref();
        this.taskId = message.taskId;
        events.ready();
      } else events.message(message);
    });
    this.worker.on("error", (error) => {
      reason = error instanceof Error ? error.message : String(error);
    });
    this.worker.on("exit", () => events.gone(reason));
  }

  /** Starts a job: tells the worker, with the module when it does not have it yet. */
  run(module: GuestModule, message: Omit<RunMessage, "type" | "moduleId" | "module">): void {
    this.worker.ref();
    this.control.reset();
    const has = this.known.delete(module.id);
    this.known.set(module.id, true);
    this.post({ type: "run", moduleId: module.id, ...(!has && { module: shared(module) }), ...message });
  }

  /** The job is over; the thread no longer keeps the process alive. */
  rest(): void {
    this.worker.unref();
    for (const id of this.known.keys()) {
      if (this.known.size <= KNOWN_MODULES) break;
      this.known.delete(id);
      this.post({ type: "forget", moduleId: id });
    }
  }

  /** Posts a host call's answer and wakes the guest. */
  answer(answer: HostAnswer): void {
    this.worker.postMessage(answer);
    this.control.wake();
  }

  /** Lets every other thread go first from now on. Works where threads have ids of their own (Linux); elsewhere nothing happens. */
  demote(): void {
    if (this.taskId === undefined || this.demoted) return;
    this.demoted = true;
    try {
      setPriority(this.taskId, LOW_PRIORITY);
    } catch {
      // A sandbox that forbids it: the guest only competes harder until its time is up.
    }
  }

  /** Kills the thread, whatever it does. */
  kill(): void {
    void this.worker.terminate();
  }

  private post(message: ToWorker): void {
    this.worker.postMessage(message);
  }
}

/** Only what the worker needs: a prepared module has more, and everything posted is copied. */
function shared({ id, module, importedMemory }: GuestModule): GuestModule {
  return { id, module, ...(importedMemory && { importedMemory }) };
}
