import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { metricsTables } from "../../src/telemetry/documentation.js";

test("every label of a metric is explained in docs/metrics.md, and no other", () => {
  const page = readFileSync(new URL("../../../docs/metrics.md", import.meta.url), "utf8");
  const [, section = ""] = page.split("## Labels");
  const explained = section.split("\n").flatMap((line) => (line.split("|")[1] ?? "").match(/(?<=`)\w+(?=`)/g) ?? []);
  const rows = metricsTables().metrics?.split("\n").slice(2) ?? [];
  const labels = rows.flatMap((row) => (row.split("|")[3] ?? "").match(/(?<=`)\w+(?=`)/g) ?? []);
  assert.deepEqual(explained.sort(), [...new Set(labels)].sort());
});
