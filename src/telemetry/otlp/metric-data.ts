/** Prometheus' samples as OpenTelemetry's data points: one set of sums for scraping and for pushing. */
import type { Attributes, HrTime } from "@opentelemetry/api";
import { ValueType } from "@opentelemetry/api";
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
} from "@opentelemetry/sdk-metrics";
import type { MetricObjectWithValues, MetricValue } from "prom-client";
import type { Metrics } from "../metrics.js";
import { labelsOf, type ShownMetric } from "../shown-metric.js";
import { Slices } from "../slices.js";

/** The contents of a registry. */
export type MetricsSnapshot = readonly MetricObjectWithValues<MetricValue<string>>[];

/** The metrics that are pushed. */
export interface PushedMetrics {
  readonly metrics: Metrics;
  /** The registry's metrics, of one process or of all. */
  readonly others: MetricsSnapshot;
}

/**
 * Makes the data points in slices.
 * @param start the time when counting began
 */
export async function toMetricData(
  { metrics, others }: PushedMetrics,
  start: HrTime,
  now: HrTime,
): Promise<MetricData[]> {
  const data: MetricData[] = [];
  for (const metric of metrics.shown) data.push(await shownData(metric, start, now));
  return [...data, ...registryData(others, start, now)];
}

async function shownData(metric: ShownMetric, startTime: HrTime, endTime: HrTime): Promise<MetricData> {
  const slices = new Slices();
  const { name, help, type, tables } = metric;
  const descriptor = { ...nameAndUnit(name, type), description: help, valueType: ValueType.DOUBLE };
  const common = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE };
  const numbers: DataPoint<number>[] = [];
  const histograms: DataPoint<Histogram>[] = [];
  for (const table of tables) {
    const { names, bounds } = table;
    for (const { values, count } of type === "counter" ? table.counts() : []) {
      numbers.push({ startTime, endTime, attributes: labelsOf(names, values), value: count });
      if (slices.over()) await slices.rest();
    }
    for (const { values, count, sum, buckets } of type === "histogram" ? table.distributions() : []) {
      const value = { buckets: { boundaries: [...bounds], counts: [...buckets] }, sum, count };
      histograms.push({ startTime, endTime, attributes: labelsOf(names, values), value });
      if (slices.over()) await slices.rest();
    }
  }
  return type === "counter"
    ? { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: numbers }
    : { ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints: histograms };
}

interface Sample {
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number | undefined>>;
  readonly value: number;
}

function registryData(snapshot: MetricsSnapshot, start: HrTime, now: HrTime): MetricData[] {
  return snapshot.flatMap((metric): MetricData[] => {
    const samples = metric.values as readonly Sample[];
    // The library's declarations say that the type is a number; it is a word.
    const type = String(metric.type);
    const name = nameAndUnit(metric.name, type);
    const descriptor = { ...name, description: metric.help, valueType: ValueType.DOUBLE };
    const common = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE };
    const point = <T>(labels: Sample["labels"], value: T): DataPoint<T> => ({
      startTime: start,
      endTime: now,
      attributes: attributesOf(labels),
      value,
    });
    const numbers = () => samples.map(({ labels, value }) => point(labels, value));
    switch (type) {
      case "counter":
        return [{ ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: numbers() }];
      case "gauge":
        return [{ ...common, dataPointType: DataPointType.GAUGE, dataPoints: numbers() }];
      case "histogram": {
        const dataPoints = histograms(metric.name, samples).map(([labels, value]) => point(labels, value));
        return [{ ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints }];
      }
      default:
        return [];
    }
  });
}

/** The name and the unit. Collectors append unit and `_total` when they make Prometheus names: so the names are the same as here (spec kubewarden.md 8.1). */
function nameAndUnit(prometheus: string, type: string): { readonly name: string; readonly unit: string } {
  const name = type === "counter" ? prometheus.replace(/_total$/, "") : prometheus;
  for (const [suffix, unit] of [
    ["_milliseconds", "ms"],
    ["_seconds", "s"],
    ["_bytes", "By"],
  ] as const) {
    if (name.endsWith(suffix)) return { name: name.slice(0, -suffix.length), unit };
  }
  return { name, unit: "" };
}

function attributesOf(labels: Sample["labels"]): Attributes {
  return Object.fromEntries(Object.entries(labels).filter(([name]) => name !== "le"));
}

/** Samples `_bucket`, `_sum` and `_count` to one histogram for each set of labels. */
function histograms(name: string, samples: readonly Sample[]): [Sample["labels"], Histogram][] {
  const found = new Map<string, { labels: Sample["labels"]; bounds: [number, number][]; sum: number; count: number }>();
  for (const { metricName, labels, value } of samples) {
    const key = JSON.stringify(Object.entries(attributesOf(labels)).sort());
    const entry = found.get(key) ?? { labels, bounds: [], sum: 0, count: 0 };
    found.set(key, entry);
    if (metricName === `${name}_sum`) entry.sum = value;
    else if (metricName === `${name}_count`) entry.count = value;
    else if (labels.le !== undefined && labels.le !== "+Inf") entry.bounds.push([Number(labels.le), value]);
  }
  return Array.from(found.values(), ({ labels, bounds, sum, count }) => {
    bounds.sort(([a], [b]) => a - b);
    let before = 0;
    const counts = [...bounds.map(([, upTo]) => upTo), count].map((upTo) => {
      const inside = upTo - before;
      before = upTo;
      return inside;
    });
    return [labels, { buckets: { boundaries: bounds.map(([bound]) => bound), counts }, sum, count }];
  });
}
