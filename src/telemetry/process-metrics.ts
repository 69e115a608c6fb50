/** Metrics of the process: memory, processor time, event loop, descriptors. */
import type { Registry } from "prom-client";
import eventLoopLag from "prom-client/lib/metrics/eventLoopLag.js";
import heapSizeAndUsed from "prom-client/lib/metrics/heapSizeAndUsed.js";
import heapSpacesSizeAndUsed from "prom-client/lib/metrics/heapSpacesSizeAndUsed.js";
import osMemoryHeap from "prom-client/lib/metrics/osMemoryHeap.js";
import processCpuTotal from "prom-client/lib/metrics/processCpuTotal.js";
import processHandles from "prom-client/lib/metrics/processHandles.js";
import processMaxFileDescriptors from "prom-client/lib/metrics/processMaxFileDescriptors.js";
import processOpenFileDescriptors from "prom-client/lib/metrics/processOpenFileDescriptors.js";
import processRequests from "prom-client/lib/metrics/processRequests.js";
import processResources from "prom-client/lib/metrics/processResources.js";
import processStartTime from "prom-client/lib/metrics/processStartTime.js";
import version from "prom-client/lib/metrics/version.js";

/**
 * The library's own list without `nodejs_gc_duration_seconds`: the records of each collection of short-lived objects cost more than most requests,
 * and outlive it, so that a process takes 4 MiB more after a minute of load.
 */
const METRICS = [
  processCpuTotal,
  processStartTime,
  osMemoryHeap,
  processOpenFileDescriptors,
  processMaxFileDescriptors,
  eventLoopLag,
  processResources,
  processHandles,
  processRequests,
  heapSizeAndUsed,
  heapSpacesSizeAndUsed,
  version,
];

/** Milliseconds between measurements of the event loop's delay. */
const EVENT_LOOP_PRECISION_MS = 10;

/** Adds the metrics of this process to a registry, under the library's names. */
export function collectProcessMetrics(registry: Registry): void {
  for (const collect of METRICS) collect(registry, { eventLoopMonitoringPrecision: EVENT_LOOP_PRECISION_MS });
}
