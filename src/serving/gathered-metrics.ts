/**
 * Adds up the metrics of all processes. Processes send their counts since the last time, which stay in the sums when they end: the sums never go
 * backwards. The text is complete, or an error.
 */
import { AggregatorRegistry, type MetricObject, type Registry } from "prom-client";
import { Metrics, type MetricsText, type Rejections } from "../telemetry/metrics.js";
import { oneAtATime } from "../telemetry/one-at-a-time.js";
import type { MetricsSnapshot, PushedMetrics } from "../telemetry/otlp/metric-data.js";
import type { SeriesBatch } from "../telemetry/series.js";

/** Sums, and the latest snapshot of each process. */
export class GatheredMetrics {
  /** Sums of all processes, this one's own counts included. */
  readonly totals = new Metrics(false);
  /** The latest snapshots, by process. */
  readonly #latest = new Map<number, MetricsSnapshot>();
  /** One snapshot of all ended processes, without gauges. */
  #past: MetricsSnapshot = [];
  readonly #gather: () => Promise<string | undefined>;
  /** All metrics as text, after asking all processes. Concurrent callers share it. */
  readonly text: () => Promise<MetricsText>;

  /** @param gather asks all processes for their metrics; resolves with the reason why some did not answer */
  constructor(gather: () => Promise<string | undefined>) {
    this.#gather = oneAtATime(gather);
    this.text = oneAtATime(async () => {
      const unavailable = await this.#gather();
      if (unavailable !== undefined) return { unavailable };
      return { parts: await this.totals.text(async () => (await this.#others()).metrics()) };
    });
  }

  /** As {@link Metrics.rejections}, of all processes that answer. */
  async rejections(): Promise<Iterable<Rejections>> {
    await this.#gather();
    return this.totals.rejections();
  }

  /** Metrics to push: those of a process that does not answer are its last known ones. */
  async pushed(): Promise<PushedMetrics> {
    await this.#gather();
    return { metrics: this.totals, others: await (await this.#others()).getMetricsAsJSON() };
  }

  /** Adds a process' counts since the last time. */
  add(batch: SeriesBatch): void {
    this.totals.add(batch);
  }

  /** Keeps the rest of a process' metrics. */
  latest(process: number, snapshot: MetricsSnapshot): void {
    this.#latest.set(process, snapshot);
  }

  /** Keeps the counters of an ended process. */
  ended(process: number): void {
    const snapshot = this.#latest.get(process);
    this.#latest.delete(process);
    if (snapshot === undefined) return;
    // The library's declarations say that the type is a number; it is a word.
    const lasting = snapshot.filter(({ type }) => String(type) !== "gauge");
    // Its result has whole metrics with their values.
    this.#past = aggregate([this.#past, lasting]).getMetricsAsArray() as unknown as MetricsSnapshot;
  }

  async #others(): Promise<Registry> {
    const own: MetricsSnapshot = await this.totals.registry.getMetricsAsJSON();
    return aggregate([...this.#latest.values(), this.#past, own]);
  }
}

function aggregate(snapshots: readonly MetricsSnapshot[]): Registry {
  return AggregatorRegistry.aggregate(snapshots.map((snapshot): MetricObject[] => [...snapshot]));
}
