/** Metrics pushed over OTLP (gRPC), as the reference server does (spec kubewarden.md 8.1). The destination is set by the standard OTEL_ variables. */
import type { HrTime } from "@opentelemetry/api";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-grpc";
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from "@opentelemetry/resources";
import { type MetricProducer, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { type PushedMetrics, toMetricData } from "./metric-data.js";
import { stopWithin } from "./stop-within.js";

/** The sender: the reference server's service name, unless OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES set another. */
export function serviceResource(env: Readonly<Record<string, string | undefined>>): Resource {
  const named = resourceFromAttributes({
    "service.name": "kubewarden-policy-server",
    ...(env.HOSTNAME !== undefined && { "host.name": env.HOSTNAME }),
  });
  return defaultResource()
    .merge(named)
    .merge(detectResources({ detectors: [envDetector] }));
}

/** The standard's default. */
const PERIOD_MS = 60_000;
/** Data points that are encoded at a time: some milliseconds, and below the 4 MiB that a gRPC receiver accepts by default. */
const BATCH_POINTS = 1000;

/** A periodic push that can be stopped. */
export interface Push {
  /** Pushes the rest and ends, within STOP_WITHIN_MS. Never rejects: a collector that does not answer must not delay the process. */
  stop(): Promise<void>;
}

/** Pushes the metrics of `read`, every OTEL_METRIC_EXPORT_INTERVAL milliseconds. */
export function pushMetrics(
  read: () => Promise<PushedMetrics>,
  env: Readonly<Record<string, string | undefined>>,
): Push {
  const start = toHrTime(Date.now());
  const resource = serviceResource(env);
  const producer: MetricProducer = {
    collect: async () => ({
      resourceMetrics: {
        resource,
        scopeMetrics: [
          { scope: { name: "kubewarden" }, metrics: await toMetricData(await read(), start, toHrTime(Date.now())) },
        ],
      },
      errors: [],
    }),
  };
  const interval = Number(env.OTEL_METRIC_EXPORT_INTERVAL);
  const reader = new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter(),
    maxExportBatchSize: BATCH_POINTS,
    exportIntervalMillis: interval > 0 ? interval : PERIOD_MS,
    exportTimeoutMillis: Math.min(interval > 0 ? interval : PERIOD_MS, 10_000),
  });
  reader.setMetricProducer(producer);
  return { stop: () => stopWithin(reader.shutdown()) };
}

function toHrTime(milliseconds: number): HrTime {
  return [Math.trunc(milliseconds / 1000), (milliseconds % 1000) * 1e6];
}
