/** Rewrites modules on a thread of its own, for a process whose main thread answers requests: a module of 2 MB would hold that for a second. */
import { Worker } from "node:worker_threads";
import { WasmLoadError } from "../errors.js";
import type { RewriteAnswer } from "./rewriting-worker.js";
import type { RewriteOrder, Rewritten } from "./rewritten.js";

const ENTRY = new URL("./rewriting-worker.js", import.meta.url);
/** MiB of its heap: most of its results lie outside. */
const HEAP_MIB = 512;
/** Milliseconds without work after which it ends. Starting one takes some 50 ms of a processor, and it takes 10 MiB. */
const LINGER_MS = 1_000;

interface Pending {
  readonly order: RewriteOrder;
  readonly isOwn: boolean;
  readonly resolve: (made: Rewritten) => void;
  readonly reject: (error: Error) => void;
}

/** The thread, which exists while it has work. It rewrites one module after the other. */
export class RewritingThread {
  #worker: Worker | undefined;
  /** Orders; the thread works on the first one. */
  #pending: Pending[] = [];
  #linger: NodeJS.Timeout | undefined;

  /**
   * As `rewritten`.
   * @param isOwn whether the bytes may be transferred: otherwise the thread gets a copy
   * @throws WasmLoadError also when it takes more memory than there is
   */
  rewrite(order: RewriteOrder, isOwn = false): Promise<Rewritten> {
    return new Promise((resolve, reject) => this.#give({ order, isOwn, resolve, reject }));
  }

  /** Ends the thread. Orders that still wait are rejected. */
  close(): void {
    clearTimeout(this.#linger);
    void this.#worker?.terminate();
    this.#worker = undefined;
    for (const { reject } of this.#pending.splice(0))
      reject(new Error("the thread that prepares modules has been closed"));
  }

  #give(pending: Pending): void {
    clearTimeout(this.#linger);
    this.#pending.push(pending);
    if (this.#pending.length === 1) this.#next();
  }

  /** Sends one order at a time: should the thread end over one, the bytes of the others are still here. */
  #next(): void {
    const [next] = this.#pending;
    if (next === undefined) return;
    const { order, isOwn } = next;
    const whole = order.bytes.buffer;
    // A buffer shared with others must not be transferred.
    const goes = isOwn && whole instanceof ArrayBuffer && whole.byteLength === order.bytes.byteLength;
    this.#worker ??= this.#start();
    this.#worker.ref();
    this.#worker.postMessage(order, goes ? [whole] : []);
  }

  #start(): Worker {
    const worker = new Worker(ENTRY, {
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
    });
    worker.on("message", (answer: RewriteAnswer) => this.#answered(worker, answer));
    worker.on("error", (error) => this.#failed(worker, error));
    // Orders that wait are rejected, whatever ended it.
    worker.on("exit", () => this.#failed(worker, undefined));
    return worker;
  }

  #answered(worker: Worker, answer: RewriteAnswer): void {
    if (worker !== this.#worker) return;
    const { resolve, reject } = this.#pending.shift() as Pending;
    this.#next();
    if (this.#pending.length === 0) {
      worker.unref();
      this.#linger = setTimeout(() => this.close(), LINGER_MS).unref();
    }
    if ("made" in answer) resolve(answer.made);
    else reject(new WasmLoadError(answer.code, answer.message));
  }

  /** Handles a thread that has ended over its module; another thread does the remaining ones. */
  #failed(worker: Worker, error: unknown): void {
    if (worker !== this.#worker) return;
    this.#worker = undefined;
    const first = this.#pending.shift();
    const isMemory = error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
    const reason = isMemory
      ? new WasmLoadError("wasm-memory", "to prepare the module takes more memory than there is")
      : new Error("the module could not be prepared", { cause: error });
    first?.reject(reason);
    this.#next();
  }
}
