/** Scans on several processors: each thread has its own policies and takes batches; results come back in order. */
import { Worker } from "node:worker_threads";
import type { Scanned } from "../reports/finding.js";
import { ScanError } from "./scan-error.js";
import type { Batch, Form } from "./split/batch.js";

/** A message to a thread. */
export interface BatchMessage {
  readonly id: number;
  readonly batch: Batch;
}

/** A message from a thread. */
export type ScannedMessage =
  | { readonly id: number; readonly scanned: readonly Scanned[] }
  /** `known`: a user's mistake, not a defect of ours. */
  | { readonly id: number; readonly error: string; readonly known: boolean };

/**
 * Megabytes that a thread may take, for objects that die young and others: without a limit garbage takes up to twice as much. Larger batches stay
 * with the reading thread, which has no limit.
 */
const LIMITS = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 64 };
/** A batch has some 256 KiB unless it is a single large resource; objects take ten times as much as their text, and a tree of YAML sixty times. */
const MAX_BATCH_BYTES: Readonly<Record<Form, number>> = { json: 2 * 1024 * 1024, yaml: 512 * 1024 };

interface Pending {
  readonly batch: Batch;
  resolve(scanned: readonly Scanned[]): void;
  reject(error: Error): void;
}

/** Batches of a thread before others get more: the current and the next one. */
const BATCHES_EACH = 2;

/** Scans a batch. */
export type ScanBatch = (batch: Batch) => Promise<readonly Scanned[]>;

/** Threads that scan, beside the reading one. */
export class ScanThreads {
  readonly #threads: readonly ScanThread[];

  /**
   * @param script the script of threads: it answers each {@link BatchMessage} with a {@link ScannedMessage}
   * @param workerData data for each
   * @param own scans the batches of an ended thread here: its memory limit may have ended it
   */
  constructor(count: number, script: URL, workerData: unknown, own: ScanBatch) {
    this.#threads = Array.from({ length: count }, () => new ScanThread(script, workerData, own));
  }

  /** Batches that should be under way at a time, so that no thread waits for work. */
  get ahead(): number {
    return BATCHES_EACH * this.#threads.length + 1;
  }

  /** The results of a batch; `undefined` when no thread takes it: all have enough to do, or it is too large. Rejects with the thread's error. */
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

  /** Number of batches under way; infinite for an ended thread. */
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
