/**
 * Counters and histograms that are cheap to feed: prom-client needs two microseconds a request for hashing labels, most of the time that the rest of a
 * CEL request needs. A series is found once by its joined label values.
 */

import { type LabelLimits, LabelSets, type LabelValues, OTHER, type Place } from "./label-sets.js";
import type { Slices } from "./slices.js";

/** Limits of counters, with a line each: all of them are about 1 MB when requesters choose as many namespaces as they like, and 3 MB with thousands of policies. */
export const COUNTER_LIMITS: LabelLimits = { chosen: 4000, fixed: 10_000 };
/** Limits of histograms, with some twenty lines each: 2.6 MB when requesters choose as many namespaces as they like, and ten more with thousands of policies. */
export const HISTOGRAM_LIMITS: LabelLimits = { chosen: 500, fixed: 2000 };

/** The events of one combination of labels. */
export interface Count {
  readonly values: LabelValues;
  count: number;
}

/** The observations of one combination of labels. */
export interface Distribution extends Count {
  sum: number;
  /** Observations per bucket, not cumulated; one more than there are bounds. */
  readonly buckets: number[];
}

/** The additions to one series since the last time, as processes send them. Without `buckets` it is a count. */
export interface Taken {
  readonly values: LabelValues;
  readonly count: number;
  readonly sum?: number;
  readonly buckets?: readonly number[];
}

/** Options of a table. */
export interface TableOptions {
  /** Names of the labels. */
  readonly names: readonly string[];
  /** Upper bounds of histogram buckets, ascending, without infinity; absent for counters. */
  readonly bounds?: readonly number[];
  /** Names of the labels whose values requesters choose. */
  readonly chosen?: readonly string[];
  /** Receives events and observations that are counted under `other`. */
  readonly folded?: (what: "count" | "distribution", events: number) => void;
}

interface Counter extends Count {
  /** The place of its observations: there may be fewer distributions than counters. */
  distribution: Place<Distribution> | undefined;
}

/** All series of one metric, or of a counter and a histogram of the same events. */
export class SeriesTable {
  readonly names: readonly string[];
  readonly bounds: readonly number[];
  readonly #folded: (what: "count" | "distribution", events: number) => void;
  readonly #counters: LabelSets<Counter>;
  readonly #distributions: LabelSets<Distribution>;

  constructor({ names, bounds = [], chosen = [], folded = () => {} }: TableOptions) {
    this.names = names;
    this.bounds = bounds;
    this.#folded = folded;
    const positions = chosen.map((name) => names.indexOf(name));
    this.#counters = new LabelSets(positions, COUNTER_LIMITS, (values) => ({
      values,
      count: 0,
      distribution: undefined,
    }));
    this.#distributions = new LabelSets(positions, HISTOGRAM_LIMITS, (values) => ({
      values,
      count: 0,
      sum: 0,
      buckets: new Array<number>(bounds.length + 1).fill(0),
    }));
  }

  /** Counts one event of the series with these labels. */
  count(values: LabelValues): void {
    this.#counter(values);
  }

  /** Counts one observation of the series with these labels. */
  observe(values: LabelValues, value: number): void {
    const { entry: counter, folded } = this.#counter(values);
    counter.distribution ??= this.#distributions.find(counter.values);
    if (folded || counter.distribution.folded) this.#folded("distribution", 1);
    const { entry } = counter.distribution;
    entry.count += 1;
    entry.sum += value;
    let bucket = 0;
    while (bucket < this.bounds.length && value > (this.bounds[bucket] ?? 0)) bucket += 1;
    entry.buckets[bucket] = (entry.buckets[bucket] ?? 0) + 1;
  }

  #counter(values: LabelValues): Place<Counter> {
    const place = this.#counters.find(values);
    place.entry.count += 1;
    if (place.folded) this.#folded("count", 1);
    return place;
  }

  /** Every combination of labels, with its events. */
  counts(): Iterable<Count> {
    return this.#counters.entries();
  }

  /** Every combination of labels, with its observations. */
  distributions(): Iterable<Distribution> {
    return this.#distributions.entries();
  }

  /** Yields the additions since the last time, and resets them. */
  *take(): Iterable<Taken> {
    for (const counter of this.#counters.entries()) {
      if (counter.count === 0) continue;
      const { values, count } = counter;
      counter.count = 0;
      yield { values, count };
    }
    for (const distribution of this.#distributions.entries()) {
      if (distribution.count === 0) continue;
      const { values, count, sum } = distribution;
      const buckets = distribution.buckets.slice();
      distribution.count = 0;
      distribution.sum = 0;
      distribution.buckets.fill(0);
      yield { values, count, sum, buckets };
    }
  }

  /** Adds what another process has taken from the same table. */
  add({ values, count, sum, buckets }: Taken): void {
    const { entry, folded } = (buckets === undefined ? this.#counters : this.#distributions).find(values);
    entry.count += count;
    // Events that were folded there were reported there.
    if (folded && !values.includes(OTHER)) this.#folded(buckets === undefined ? "count" : "distribution", count);
    if (buckets === undefined || !isDistribution(entry)) return;
    entry.sum += sum ?? 0;
    buckets.forEach((more, index) => {
      entry.buckets[index] = (entry.buckets[index] ?? 0) + more;
    });
  }
}

function isDistribution(entry: Count): entry is Distribution {
  return "buckets" in entry;
}

/** Series in one message between processes: some 50 KiB. */
const BATCH_SERIES = 200;

/** Series of one process, sent to be added to the sums of all. */
export interface SeriesBatch {
  /** Number of the table: the same in all processes. */
  readonly table: number;
  readonly series: readonly Taken[];
}

/** Yields in slices the counts of tables since the last time, and resets them. */
export async function* takenInBatches(tables: readonly SeriesTable[], slices: Slices): AsyncGenerator<SeriesBatch> {
  for (const [number, table] of tables.entries()) {
    let series: Taken[] = [];
    for (const taken of table.take()) {
      if (series.push(taken) === BATCH_SERIES) {
        yield { table: number, series };
        series = [];
      }
      if (slices.over()) await slices.rest();
    }
    if (series.length > 0) yield { table: number, series };
  }
}
