import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { collectDefaultMetrics, Registry } from "prom-client";
import { collectProcessMetrics } from "../../src/telemetry/process-metrics.js";

describe("metrics of the process", () => {
  test("are the library's, but for those of each garbage collection", () => {
    const [all, ours] = [new Registry(), new Registry()];
    collectDefaultMetrics({ register: all });
    collectProcessMetrics(ours);
    const names = (registry: Registry) => registry.getMetricsAsArray().map(({ name }) => name);
    assert.deepEqual(
      names(ours),
      names(all).filter((name) => name !== "nodejs_gc_duration_seconds"),
    );
    assert.ok(names(ours).length > 20);
  });
});
