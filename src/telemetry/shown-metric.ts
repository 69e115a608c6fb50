/** Metrics for their readers: names, labels, and the lines of Prometheus' text format. */
import type { LabelValues } from "./label-sets.js";
import type { Distribution, SeriesTable } from "./series.js";
import type { Slices } from "./slices.js";

/** Characters of text that are passed on at a time. */
const PART_CHARACTERS = 64 * 1024;

/** The constant parts of a metric; documentation reads them too. */
export interface MetricDescription {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "histogram" | "gauge";
  readonly labelNames: readonly string[];
  /** Upper bounds of a histogram's buckets. */
  readonly upperBounds?: readonly number[];
}

/** A counter or histogram that is fed here: with the tables that hold its series. */
export interface ShownMetric {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "histogram";
  readonly tables: readonly SeriesTable[];
}

/** The description of a metric for documentation. */
export function describe({ name, help, type, tables }: ShownMetric): MetricDescription {
  const labelNames = [...new Set(tables.flatMap(({ names }) => names))];
  const bounds = tables.flatMap((table) => table.bounds);
  return { name, help, type, labelNames, ...(type === "histogram" && { upperBounds: bounds }) };
}

/** Labels by name, without those that are left out. */
export function labelsOf(names: readonly string[], values: LabelValues): Record<string, string> {
  const labels: Record<string, string> = {};
  names.forEach((name, index) => {
    const value = values[index];
    if (value != null) labels[name] = value;
  });
  return labels;
}

/** Metrics in Prometheus' text format, in parts made in slices. */
export async function textOf(metrics: Iterable<ShownMetric>, slices: Slices): Promise<string[]> {
  const parts: string[] = [];
  let part: string[] = [];
  let characters = 0;
  for (const metric of metrics) {
    for (const lines of linesOf(metric)) {
      part.push(lines);
      characters += lines.length;
      if (characters >= PART_CHARACTERS) {
        // Joined here, in its slice, and not all at once by the sender.
        parts.push(part.join(""));
        part = [];
        characters = 0;
      }
      if (slices.over()) await slices.rest();
    }
  }
  return [...parts, part.join("")];
}

/** The metric in Prometheus' text format: its head, then the lines of each series together. */
function* linesOf(metric: ShownMetric): Iterable<string> {
  const { name, help, type, tables } = metric;
  yield `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
  for (const table of tables) {
    if (type === "counter") {
      for (const { values, count } of table.counts()) yield `${name}${braced(labelText(table, values))} ${count}\n`;
    } else {
      for (const distribution of table.distributions()) yield histogramLines(name, table, distribution);
    }
  }
  yield "\n";
}

function histogramLines(name: string, table: SeriesTable, { values, count, sum, buckets }: Distribution): string {
  const labels = labelText(table, values);
  const before = labels === "" ? "" : `${labels},`;
  let text = "";
  let total = 0;
  for (let index = 0; index <= table.bounds.length; index++) {
    total += buckets[index] ?? 0;
    text += `${name}_bucket{${before}le="${table.bounds[index] ?? "+Inf"}"} ${total}\n`;
  }
  return `${text}${name}_sum${braced(labels)} ${sum}\n${name}_count${braced(labels)} ${count}\n`;
}

function labelText({ names }: SeriesTable, values: LabelValues): string {
  let text = "";
  for (const [index, value] of values.entries()) {
    if (value != null) text += `${text === "" ? "" : ","}${names[index]}="${escapeValue(value)}"`;
  }
  return text;
}

const ESCAPES: Readonly<Record<string, string>> = { "\\": "\\\\", '"': '\\"', "\n": "\\n" };

function escapeValue(value: string): string {
  return value.replace(/[\\"\n]/g, (character) => ESCAPES[character] ?? character);
}

function braced(labels: string): string {
  return labels === "" ? "" : `{${labels}}`;
}
