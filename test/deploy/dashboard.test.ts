import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { GAUGES } from "../../src/telemetry/gauges.js";
import { Metrics } from "../../src/telemetry/metrics.js";

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
}

const text = readFileSync(new URL("../../../deploy/grafana/dashboard.json", import.meta.url), "utf8");
const { panels } = JSON.parse(text) as { panels: Panel[] };
const targets = panels.flatMap((panel) => panel.targets);

const metrics = new Metrics();
for (const name of GAUGES) metrics.gauge(name, () => 0);
metrics.auditResults(() => []);
const labelsOf = new Map(metrics.descriptions().map(({ name, labelNames }) => [name, labelNames]));

/** The metric behind a series of a histogram. */
const metricOf = (series: string): string =>
  labelsOf.has(series) ? series : series.replace(/_(?:bucket|sum|count)$/, "");

describe("the Grafana dashboard", () => {
  test("every metric that it shows is one that the server has", () => {
    const names = targets.flatMap(
      ({ expr }) => expr.match(/\b(?:kubewarden|policy_server|process|nodejs)_[a-z_]+/g) ?? [],
    );
    assert.ok(names.length > 10);
    for (const name of names) assert.ok(labelsOf.has(metricOf(name)), name);
  });

  test("every metric of the server itself is shown", () => {
    const own = [...labelsOf.keys()].filter((name) => /^(?:kubewarden|policy_server)_/.test(name));
    for (const name of own) assert.ok(text.includes(name), name);
  });

  test("labels that it groups by, filters with and names are the metric's", () => {
    for (const { expr, legendFormat } of targets) {
      const [series = ""] = expr.match(/\b(?:kubewarden|policy_server|process|nodejs)_[a-z_]+/) ?? [];
      // `le` is a bucket's bound, `pod` what Prometheus adds.
      const known = new Set([...(labelsOf.get(metricOf(series)) ?? []), "le", "pod"]);
      const grouped = Array.from(expr.matchAll(/by \(([^)]*)\)/g), ([, list = ""]) => list.split(/,\s*/)).flat();
      const filtered = Array.from(expr.matchAll(/(\w+)(?==~?")/g), ([, label = ""]) => label);
      const named = Array.from(legendFormat.matchAll(/\{\{(\w+)\}\}/g), ([, label = ""]) => label);
      for (const label of [...grouped, ...filtered, ...named]) assert.ok(known.has(label), `${label} in ${expr}`);
    }
  });

  test("what is told by policy can be narrowed to some, and evaluations to namespaces of objects", () => {
    const { templating } = JSON.parse(text) as { templating: { list: { name: string }[] } };
    assert.deepEqual(
      templating.list.map(({ name }) => name),
      ["datasource", "policy", "namespace"],
    );
    for (const { expr } of targets) {
      const [series = ""] = expr.match(/\b(?:kubewarden|policy_server)_[a-z_]+/) ?? [];
      const labels = labelsOf.get(metricOf(series)) ?? [];
      if (labels.includes("policy_name")) assert.match(expr, /policy_name=~"\$policy"/);
      if (labels.includes("resource_namespace")) assert.match(expr, /resource_namespace=~"\$namespace"/);
    }
  });

  test("panels have ids of their own and do not lie on each other", () => {
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
    for (const { gridPos: a, id } of panels) {
      const over = panels.filter(
        ({ gridPos: b, id: other }) =>
          other !== id && a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h,
      );
      assert.deepEqual(over, []);
      assert.ok(a.x + a.w <= 24);
    }
  });
});
