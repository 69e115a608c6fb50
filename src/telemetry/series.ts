/**
 * Counters and histograms that are cheap to feed: prom-client needs two microseconds a request for hashing labels, most of what the rest of a
 * CEL request needs. A series is found once by its label values joined, and prom-client's registry reads the sums when it is scraped.
 */
import type { MetricObjectWithValues, MetricValueWithName, Registry } from "prom-client";

/** Series one metric may have: beyond it, clients that invent label values would fill the memory. */
export const MAX_SERIES = 10_000;
/** Stands in every label of the series that takes what no longer fits. */
const OVERFLOW = "other";

/** The values of a metric's labels, in the order of its label names; undefined leaves the label out. */
export type LabelValues = readonly (string | undefined)[];

/** One combination of labels. */
export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  /** Events, or observations. */
  count: number;
  /** Sum of observations. */
  sum: number;
  /** Observations per bucket, not cumulated; one more than there are bounds. */
  readonly buckets: number[];
}

/** All series of one metric or of several with the same labels. */
export class SeriesTable {
  readonly #series = new Map<string, Series>();

  /**
   * @param names label names
   * @param bounds upper bounds of histogram buckets, ascending, without infinity; none for counters
   */
  constructor(
    readonly names: readonly string[],
    readonly bounds: readonly number[] = [],
  ) {}

  /** Counts one event of the series with these labels. */
  count(values: LabelValues): void {
    this.#find(values).count += 1;
  }

  /** Counts one observation of the series with these labels. */
  observe(values: LabelValues, value: number): void {
    const series = this.#find(values);
    series.count += 1;
    series.sum += value;
    let bucket = 0;
    while (bucket < this.bounds.length && value > (this.bounds[bucket] ?? 0)) bucket += 1;
    series.buckets[bucket] = (series.buckets[bucket] ?? 0) + 1;
  }

  /** Every series so far. */
  all(): Iterable<Series> {
    return this.#series.values();
  }

  #find(values: LabelValues): Series {
    const key = values.join("\u0000");
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    return this.#series.size < MAX_SERIES ? this.#create(key, values) : this.#overflow();
  }

  #create(key: string, values: LabelValues): Series {
    const labels: Record<string, string> = {};
    this.names.forEach((name, index) => {
      const value = values[index];
      if (value !== undefined) labels[name] = value;
    });
    const series = { labels, count: 0, sum: 0, buckets: new Array<number>(this.bounds.length + 1).fill(0) };
    this.#series.set(key, series);
    return series;
  }

  #overflow(): Series {
    const labels = this.names.map(() => OVERFLOW);
    return this.#series.get(OVERFLOW) ?? this.#create(OVERFLOW, labels);
  }
}

/**
 * Shows one table or several as a counter.
 * @param together how the values of several processes become one
 */
export function registerCounter(
  registry: Registry,
  name: string,
  help: string,
  tables: readonly SeriesTable[],
  together: "sum" | "max" = "sum",
): void {
  const labelNames = [...new Set(tables.flatMap(({ names }) => names))];
  register(registry, { name, help, labelNames, type: "counter", aggregator: together }, () =>
    tables.flatMap((table) =>
      Array.from(table.all(), ({ labels, count }) => ({ metricName: name, labels, value: count })),
    ),
  );
}

/** Shows a table as a histogram. */
export function registerHistogram(registry: Registry, name: string, help: string, table: SeriesTable): void {
  const { names: labelNames, bounds: upperBounds } = table;
  register(registry, { name, help, labelNames, upperBounds, type: "histogram", aggregator: "sum" }, () =>
    Array.from(table.all()).flatMap((series) => rows(name, table, series)),
  );
}

function rows(name: string, { bounds }: SeriesTable, { labels, count, sum, buckets }: Series): Value[] {
  let total = 0;
  const cumulated = [...bounds, "+Inf"].map((le, index): Value => {
    total += buckets[index] ?? 0;
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: total };
  });
  return [
    ...cumulated,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}

type Value = MetricValueWithName<string>;

/** What stays the same about a metric; documentation reads it too. */
export interface MetricDescription {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "histogram" | "gauge";
  readonly aggregator: "sum" | "max";
  readonly labelNames: readonly string[];
  /** Of histograms. */
  readonly upperBounds?: readonly number[];
}

/** A registry asks a metric for its name and its values and nothing else, but its type names the library's own four classes. */
function register(registry: Registry, description: MetricDescription, read: () => Value[]): void {
  const { name, help, type, aggregator } = description;
  const metric = {
    ...description,
    reset: () => {},
    get: async (): Promise<MetricObjectWithValues<Value>> =>
      ({ name, help, type, aggregator, values: read() }) as unknown as MetricObjectWithValues<Value>,
  };
  registry.registerMetric(metric as unknown as Parameters<Registry["registerMetric"]>[0]);
}
