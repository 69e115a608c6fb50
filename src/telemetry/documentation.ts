/** The table of docs/http.md, made from the metrics themselves. */
import { GAUGES, Metrics } from "./metrics.js";

/** Blocks by name. */
export function metricsTables(): Readonly<Record<string, string>> {
  const metrics = new Metrics(false);
  for (const name of GAUGES) metrics.gauge(name, () => 0);
  const rows = metrics.registry
    .getMetricsAsArray()
    .map(({ name, type, help }) => `| \`${name}\` | ${String(type ?? "gauge")} | ${help} |`);
  return { metrics: ["| Metric | Type | Meaning |", "| --- | --- | --- |", ...rows].join("\n") };
}
