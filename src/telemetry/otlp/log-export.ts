/**
 * Log lines as OpenTelemetry log records over OTLP (gRPC), beside the lines themselves (spec kubewarden.md 8.2). The destination is set by the
 * standard OTEL_ variables. A collector that is slow or does not answer costs records, which are counted, never time.
 */
import { type AnyValue, type AnyValueMap, SeverityNumber } from "@opentelemetry/api-logs";
import { OTLPLogExporter } from "@opentelemetry/exporter-logs-otlp-grpc";
import {
  BatchLogRecordProcessor,
  LoggerProvider,
  type LogRecordExporter,
  type ReadableLogRecord,
} from "@opentelemetry/sdk-logs";
import type { LogFields, LogLevel, RecordSink } from "../logger.js";
import { type Push, serviceResource } from "./metrics-push.js";
import { stopWithin } from "./stop-within.js";
import { contextOf } from "./trace-context.js";

// Counts the records that the batching of the OpenTelemetry SDK loses silently: those that find its queue full, and batches that fail.

/** Receives the result of one export. */
type Done = Parameters<LogRecordExporter["export"]>[1];

/** An exporter around another one that counts waiting and lost records. */
class CountingLogExporter implements LogRecordExporter {
  readonly #exporter: LogRecordExporter;
  readonly #limit: number;
  /** Number of records admitted and not yet passed to the exporter. */
  #waiting = 0;
  /** Records lost so far. */
  dropped = 0;
  /** Ends the exports under way as failures. */
  readonly #underWay = new Set<() => void>();
  #abandoned = false;

  /** @param limit most records in the queue before this exporter */
  constructor(exporter: LogRecordExporter, limit: number) {
    this.#exporter = exporter;
    this.#limit = limit;
  }

  /** Admits one more record if there is room, which must then be queued; otherwise it counts as lost. */
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

  /** Gives up exports under way and waiting records: the process wants to end. */
  abandon(): void {
    this.#abandoned = true;
    this.dropped += this.#waiting;
    for (const fail of this.#underWay) fail();
  }

  /** Does nothing: exports under way end by themselves or are abandoned, and waiting for the exporter's own list of them would outlast that. */
  async forceFlush(): Promise<void> {}

  async shutdown(): Promise<void> {
    const shutdown = this.#exporter.shutdown();
    // An exporter that still retries waits for that first.
    if (this.#abandoned) void shutdown.catch(() => {});
    else await shutdown;
  }
}

/** Records that may wait for the collector: the standard's default (OTEL_BLRP_MAX_QUEUE_SIZE) four times over, a second of decisions at full speed. */
export const QUEUE_RECORDS = 8192;
/** Records sent at a time: the standard's default. */
const BATCH_RECORDS = 512;
/** Longest string of a record: a batch of such messages stays below the 4 MiB that a gRPC receiver accepts by default. */
const STRING_CHARACTERS = 4096;

/** Receives log records and exports them. */
export interface LogExport extends RecordSink, Push {
  /** Number of records lost because the collector was too slow, refused them or did not answer. */
  readonly dropped: number;
}

const SEVERITIES: Readonly<Record<LogLevel, SeverityNumber>> = {
  trace: SeverityNumber.TRACE,
  debug: SeverityNumber.DEBUG,
  info: SeverityNumber.INFO,
  warn: SeverityNumber.WARN,
  error: SeverityNumber.ERROR,
};

/** @param exporter the destination of records; default that of the standard OTEL_ variables */
export function exportLogs(
  env: Readonly<Record<string, string | undefined>>,
  exporter: LogRecordExporter = new OTLPLogExporter(),
): LogExport {
  const counting = new CountingLogExporter(exporter, QUEUE_RECORDS);
  const provider = new LoggerProvider({
    resource: serviceResource(env),
    processors: [
      new BatchLogRecordProcessor({
        exporter: counting,
        maxQueueSize: QUEUE_RECORDS,
        maxExportBatchSize: BATCH_RECORDS,
      }),
    ],
  });
  return {
    get dropped() {
      return counting.dropped;
    },
    write: ({ time, level, target, message, fields, traceparent }) => {
      if (!counting.admit()) return;
      provider.getLogger(target).emit({
        timestamp: time,
        severityNumber: SEVERITIES[level],
        severityText: level.toUpperCase(),
        body: cut(message),
        ...(fields && { attributes: attributesOf(fields) }),
        context: contextOf(traceparent),
      });
    },
    stop: () => stopWithin(provider.shutdown(), () => counting.abandon()),
  };
}

function attributesOf(fields: LogFields): AnyValueMap {
  const attributes: AnyValueMap = {};
  for (const [key, value] of Object.entries(fields)) {
    if (value !== undefined) attributes[key] = anyValueOf(value);
  }
  return attributes;
}

/** The value as JSON lines show it, and so without what JSON leaves out. */
function anyValueOf(value: unknown): AnyValue {
  if (typeof value === "string") return cut(value);
  if (typeof value === "number" || typeof value === "boolean" || value === null) return value;
  if (Array.isArray(value)) return value.map(anyValueOf);
  if (typeof value === "object") return attributesOf({ ...value });
  return cut(String(value));
}

function cut(text: string): string {
  return text.length > STRING_CHARACTERS ? `${text.slice(0, STRING_CHARACTERS)}…` : text;
}
