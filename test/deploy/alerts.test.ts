import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { parseYamlDocuments } from "../../src/data/yaml.js";
import { GAUGES } from "../../src/telemetry/gauges.js";
import { Metrics } from "../../src/telemetry/metrics.js";

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

const read = (file: string): unknown =>
  parseYamlDocuments(readFileSync(new URL(`../../../deploy/${file}`, import.meta.url), "utf8"))[0];
const alerts = read("helm/policy-server/files/alerts.yaml") as readonly Alert[];

const metrics = new Metrics();
for (const name of GAUGES) metrics.gauge(name, () => 0);
metrics.breakGlass(() => undefined);
const labelsOf = new Map(metrics.descriptions().map(({ name, labelNames }) => [name, labelNames]));

/** Labels that Prometheus gives the series of a target that the ServiceMonitor has found. */
const OF_PROMETHEUS: readonly string[] = ["namespace", "job", "pod"];

describe("the alert rules", () => {
  test("tell of what an operator has to know at night", () => {
    const asked = new Map(alerts.map(({ alert, expr }) => [alert, expr]));
    for (const [alert, metric] of [
      ["PolicyServerNoLeader", "policy_server_cluster_leader"],
      ["PolicyServerClusterContactLost", "policy_server_cluster_contact_timestamp_seconds"],
      ["PolicyServerWebhooksRefused", "policy_server_cluster_webhooks_refused"],
      ["PolicyServerWebhooksNotWritable", "policy_server_cluster_webhooks_unwritable"],
      ["PolicyServerTargetDown", "up == 0"],
      ["PolicyServerAbsent", "absent("],
    ] as const)
      assert.ok(asked.get(alert)?.includes(metric), alert);
  });

  test("ask for metrics that the server has, by labels that these have", () => {
    for (const { alert, expr, annotations } of alerts) {
      const series = expr.match(/\b(?:kubewarden|policy_server)_[a-z_]+/g) ?? [];
      assert.equal(series.length, 1, alert);
      const labels = labelsOf.get((series[0] ?? "").replace(/_(?:bucket|sum|count)$/, ""));
      assert.ok(labels !== undefined, `${alert}: ${series[0]}`);
      const known = new Set<string>([...labels, "le", ...OF_PROMETHEUS]);
      const grouped = Array.from(expr.matchAll(/(?:by|on) \(([^)]*)\)/g), ([, list = ""]) => list.split(/,\s*/)).flat();
      const filtered = Array.from(expr.matchAll(/(\w+)(?==~?")/g), ([, label = ""]) => label);
      for (const label of [...grouped, ...filtered]) assert.ok(known.has(label), `${label} in ${alert}`);
      const shown = Array.from(JSON.stringify(annotations).matchAll(/\$labels\.(\w+)/g), ([, label = ""]) => label);
      // A comparison of `up` itself keeps the labels of the target.
      const kept = expr.startsWith("up ") ? OF_PROMETHEUS : grouped;
      for (const label of shown) assert.ok(kept.includes(label), `${label} in the words of ${alert}`);
    }
  });

  test("say how grave they are, what is the matter, and what to do", () => {
    assert.ok(alerts.length >= 8);
    assert.equal(new Set(alerts.map(({ alert }) => alert)).size, alerts.length);
    for (const { labels, annotations } of alerts) {
      assert.match(labels.severity ?? "", /^(?:critical|warning)$/);
      assert.ok(annotations.summary && annotations.description);
    }
  });

  test("are the same in the manifests", () => {
    const rule = read("manifests/monitoring/prometheus-rule.yaml") as {
      spec: { groups: { rules: readonly Alert[] }[] };
    };
    assert.deepEqual(rule.spec.groups[0]?.rules, alerts);
  });
});
