/** The tables of docs/metrics.md, made from the metrics themselves. */
import { GAUGES } from "./gauges.js";
import { Metrics } from "./metrics.js";

/** The tables by name. */
export function metricsTables(): Readonly<Record<string, string>> {
  const metrics = new Metrics(false);
  for (const name of GAUGES) metrics.gauge(name, () => 0);
  metrics.approvals(() => []);
  metrics.auditResults(() => []);
  metrics.breakGlass(() => undefined);
  const all = metrics.descriptions();
  const rows = all.map(({ name, type, help, labelNames }) => {
    const labels = labelNames.map((label) => `\`${label}\``).join(", ");
    return `| \`${name}\` | ${type} | ${labels || "none"} | ${help} |`;
  });
  const buckets = all.flatMap(({ name, upperBounds }) =>
    upperBounds ? [`| \`${name}\` | ${upperBounds.join(", ")} |`] : [],
  );
  return {
    metrics: ["| Metric | Type | Labels | Meaning |", "| --- | --- | --- | --- |", ...rows].join("\n"),
    buckets: ["| Histogram | Upper bounds of its buckets |", "| --- | --- |", ...buckets].join("\n"),
  };
}
