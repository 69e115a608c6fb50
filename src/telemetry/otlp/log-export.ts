/**
 * Log lines as OpenTelemetry log records over OTLP (gRPC), beside the lines themselves (spec kubewarden.md 8.2). Where to is said by the
 * standard OTEL_ variables. A collector that is slow or away costs records, which are counted, never time.
 */
import { type AnyValue, type AnyValueMap, SeverityNumber } from "@opentelemetry/api-logs";
import { OTLPLogExporter } from "@opentelemetry/exporter-logs-otlp-grpc";
import { BatchLogRecordProcessor, LoggerProvider, type LogRecordExporter } from "@opentelemetry/sdk-logs";
import type { LogFields, LogLevel, RecordSink } from "../logger.js";
import { CountingLogExporter } from "./counting-log-exporter.js";
import type { Push } from "./metrics-push.js";
import { serviceResource } from "./resource.js";
import { stopWithin } from "./stop-within.js";
import { contextOf } from "./trace-context.js";

/** Records that may wait for the collector: the standard's default (OTEL_BLRP_MAX_QUEUE_SIZE) four times over, a second of decisions at full speed. */
export const QUEUE_RECORDS = 8192;
/** Records sent at a time: the standard's default. */
const BATCH_RECORDS = 512;
/** Longest string of a record: a batch of such messages stays below the 4 MiB that a gRPC receiver takes by default. */
const STRING_CHARACTERS = 4096;

/** Takes log records and exports them. */
export interface LogExport extends RecordSink, Push {
  /** Records lost because the collector was too slow, refused them or was away. */
  readonly dropped: number;
}

const SEVERITIES: Readonly<Record<LogLevel, SeverityNumber>> = {
  trace: SeverityNumber.TRACE,
  debug: SeverityNumber.DEBUG,
  info: SeverityNumber.INFO,
  warn: SeverityNumber.WARN,
  error: SeverityNumber.ERROR,
};

/** @param exporter where records go; default what the standard OTEL_ variables say */
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

/** As JSON lines show it, and so without what JSON leaves out. */
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
