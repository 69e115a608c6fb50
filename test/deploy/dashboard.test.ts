import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { metricsTables } from "../../src/telemetry/documentation.js";

test("every metric that the dashboard shows is one that the server has", () => {
  const text = readFileSync(new URL("../../../deploy/grafana/dashboard.json", import.meta.url), "utf8");
  const { panels } = JSON.parse(text) as { panels: { title: string; targets: { expr: string }[] }[] };
  const known = new Set(metricsTables().metrics?.match(/(?<=`)[a-z_]+(?=`)/g));
  const expressions = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  const names = expressions.flatMap((expr) => expr.match(/\b(?:kubewarden|policy_server)_[a-z_]+/g) ?? []);
  assert.ok(names.length > 10);
  for (const name of names) assert.ok(known.has(name.replace(/_(?:bucket|sum|count)$/, "")), name);
});
