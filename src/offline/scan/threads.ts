/** Scanning on several processors: each thread has policies of its own and takes batches; results come back in order. */
import { Worker } from "node:worker_threads";
import type { Scanned } from "../reports/finding.js";
import { ScanError } from "./scan-error.js";
import type { Batch, Form } from "./split/batch.js";

/** To a thread. */
export interface BatchMessage {
  readonly id: number;
  readonly batch: Batch;
}

/** From a thread. */
export type ScannedMessage =
  | { readonly id: number; readonly scanned: readonly Scanned[] }
  /** `known`: a mistake of the user's, not of ours. */
  | { readonly id: number; readonly error: string; readonly known: boolean };

/**
 * Megabytes that a thread may take, for objects that die young and others: left to itself it lets garbage pile up to twice as much. Larger batches than these stay
 * with the thread that reads, which has no limit.
 */
const LIMITS = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 64 };
/** A batch has some 256 KiB unless it is a single large resource; objects take ten times as much as their text, and while YAML is read its tree sixty times. */
const MAX_BATCH_BYTES: Readonly<Record<Form, number>> = { json: 2 * 1024 * 1024, yaml: 512 * 1024 };

interface Pending {
  readonly batch: Batch;
  resolve(scanned: readonly Scanned[]): void;
  reject(error: Error): void;
}

/** Batches that a thread has before others get more: one that it works on, and the next one. */
const BATCHES_EACH = 2;

/** Scans a batch. */
export type ScanBatch = (batch: Batch) => Promise<readonly Scanned[]>;

/** Threads that scan, beside the one that reads. */
export class ScanThreads {
  readonly #threads: readonly ScanThread[];

  /**
   * @param script what threads run: it answers each {@link BatchMessage} with a {@link ScannedMessage}
   * @param workerData given to each
   * @param own scans here what a thread leaves that has ended: its limit of memory may be what ended it
   */
  constructor(count: number, script: URL, workerData: unknown, own: ScanBatch) {
    this.#threads = Array.from({ length: count }, () => new ScanThread(script, workerData, own));
  }

  /** Batches that should be under way at a time, so that nobody waits for work. */
  get ahead(): number {
    return BATCHES_EACH * this.#threads.length + 1;
  }

  /** The results of a batch; `undefined` when it is for nobody here: all threads have enough to do, or it is too large. Rejects with what the thread threw. */
  scan(batch: Batch): Promise<readonly Scanned[]> | undefined {
    if (batch.bytes.length > MAX_BATCH_BYTES[batch.form]) return undefined;
    return this.#threads.find(({ load }) => load < BATCHES_EACH)?.scan(batch);
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }
}

class ScanThread {
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  readonly #own: ScanBatch;
  #next = 0;
  #ended = false;

  constructor(script: URL, workerData: unknown, own: ScanBatch) {
    this.#own = own;
    this.#worker = new Worker(script, { workerData, resourceLimits: LIMITS });
    this.#worker.on("message", (message: ScannedMessage) => this.#settle(message));
    this.#worker.on("error", () => this.#end());
    this.#worker.on("exit", () => this.#end());
  }

  /** Batches under way; one that has ended takes no more. */
  get load(): number {
    return this.#ended ? Number.POSITIVE_INFINITY : this.#pending.size;
  }

  scan(batch: Batch): Promise<readonly Scanned[]> {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { batch, resolve, reject });
      const message: BatchMessage = { id, batch };
      this.#worker.postMessage(message);
    });
  }

  #settle(message: ScannedMessage): void {
    const waiting = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if ("scanned" in message) waiting?.resolve(message.scanned);
    else waiting?.reject(message.known ? new ScanError(message.error) : new Error(message.error));
  }

  #end(): void {
    this.#ended = true;
    const left = [...this.#pending.values()];
    this.#pending.clear();
    for (const { batch, resolve, reject } of left) this.#own(batch).then(resolve, reject);
  }

  async close(): Promise<void> {
    this.#pending.clear();
    await this.#worker.terminate();
  }
}
