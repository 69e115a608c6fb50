/**
 * The metrics of all processes together. Processes hand over what they have counted since the last time, which is added here and stays when they end: the
 * sums never go backwards. What there is comes whole or not at all.
 */
import { AggregatorRegistry, type MetricObject, type Registry } from "prom-client";
import { Metrics, type MetricsText, type Rejections, type SeriesBatch } from "../telemetry/metrics.js";
import { oneAtATime } from "../telemetry/one-at-a-time.js";
import type { MetricsSnapshot, PushedMetrics } from "../telemetry/otlp/metric-data.js";

/** Sums, and the latest of each process. */
export class GatheredMetrics {
  /** What this process itself counts is added to what the others have counted. */
  readonly totals = new Metrics(false);
  /** By the number of the process. */
  readonly #latest = new Map<number, MetricsSnapshot>();
  /** Of processes that have ended: one snapshot for all, without values that are of a moment. */
  #past: MetricsSnapshot = [];
  readonly #gather: () => Promise<string | undefined>;
  /** All metrics as text, after everybody was asked. Those who ask at the same time share it. */
  readonly text: () => Promise<MetricsText>;

  /** @param gather has all processes hand over what they have; tells why not all did */
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

  /** What is to be pushed: a process that does not answer is there with what is known of it. */
  async pushed(): Promise<PushedMetrics> {
    await this.#gather();
    return { metrics: this.totals, others: await (await this.#others()).getMetricsAsJSON() };
  }

  /** Takes what a process has counted since the last time. */
  add(batch: SeriesBatch): void {
    this.totals.add(batch);
  }

  /** Takes the rest of a process' metrics. */
  latest(process: number, snapshot: MetricsSnapshot): void {
    this.#latest.set(process, snapshot);
  }

  /** Keeps of a process that has ended what adds up. */
  ended(process: number): void {
    const snapshot = this.#latest.get(process);
    this.#latest.delete(process);
    if (snapshot === undefined) return;
    // The library's declarations say that the type is a number; it is a word.
    const lasting = snapshot.filter(({ type }) => String(type) !== "gauge");
    // What it makes are whole metrics with their values.
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
