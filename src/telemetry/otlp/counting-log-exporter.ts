/** Counts what the batching of the OpenTelemetry SDK loses without a word: records that find its queue full, and batches that fail. */
import type { LogRecordExporter, ReadableLogRecord } from "@opentelemetry/sdk-logs";

/** Takes the result of one export. */
type Done = Parameters<LogRecordExporter["export"]>[1];

/** An exporter around another one that knows how many records wait, and how many were lost. */
export class CountingLogExporter implements LogRecordExporter {
  readonly #exporter: LogRecordExporter;
  readonly #limit: number;
  /** Admitted and not given to the exporter yet. */
  #waiting = 0;
  /** Records lost so far. */
  dropped = 0;
  /** Ends the exports under way as failures. */
  readonly #underWay = new Set<() => void>();
  #abandoned = false;

  /** @param limit records the queue before this exporter takes */
  constructor(exporter: LogRecordExporter, limit: number) {
    this.#exporter = exporter;
    this.#limit = limit;
  }

  /** Whether there is room for one more record, which is then to be queued; otherwise it counts as lost. */
  admit(): boolean {
    if (this.#waiting >= this.#limit || this.#abandoned) {
      this.dropped += 1;
      return false;
    }
    this.#waiting += 1;
    return true;
  }

  export(records: ReadableLogRecord[], done: Done): void {
    if (this.#abandoned) {
      done({ code: 1 });
      return;
    }
    this.#waiting -= records.length;
    const settle: Done = (result) => {
      if (!this.#underWay.delete(fail)) return;
      if (result.code !== 0) this.dropped += records.length;
      done(result);
    };
    const fail = (): void => settle({ code: 1 });
    this.#underWay.add(fail);
    this.#exporter.export(records, settle);
  }

  /** Gives up on what is under way and on what waits: the process wants to end. */
  abandon(): void {
    this.#abandoned = true;
    this.dropped += this.#waiting;
    for (const fail of this.#underWay) fail();
  }

  /** Exports under way end by themselves or are abandoned: waiting for the exporter's own list of them would outlast that. */
  async forceFlush(): Promise<void> {}

  async shutdown(): Promise<void> {
    const shutdown = this.#exporter.shutdown();
    // An exporter that still tries again waits for that first.
    if (this.#abandoned) void shutdown.catch(() => {});
    else await shutdown;
  }
}
