import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { DataPointType } from "@opentelemetry/sdk-metrics";
import { InMemorySpanExporter, type ReadableSpan } from "@opentelemetry/sdk-trace";
import { Metrics } from "../../src/telemetry/metrics.js";
import { toMetricData } from "../../src/telemetry/otlp/metric-data.js";
import { pushMetrics } from "../../src/telemetry/otlp/metrics-push.js";
import { traceDecisions } from "../../src/telemetry/otlp/tracing.js";
import { startCollector, withEndpoint } from "./collector.js";
import { DECISION } from "./otlp-decision.js";

function measured(): Metrics {
  const metrics = new Metrics(false);
  const sample = {
    policy: "p",
    mode: "protect",
    kind: "Pod",
    operation: "CREATE",
    namespace: undefined,
    origin: "validate",
  };
  metrics.evaluated({ ...sample, accepted: true, mutated: false, code: undefined, milliseconds: 3 });
  metrics.evaluated({ ...sample, accepted: true, mutated: false, code: undefined, milliseconds: 40_000 });
  return metrics;
}

describe("metrics over OTLP (spec kubewarden.md 8.1)", () => {
  test("counters and histograms keep names, units, labels and buckets", async () => {
    const data = await toMetricData({ metrics: measured(), others: [] }, [1, 0], [2, 0]);
    const counter = data.find(({ descriptor }) => descriptor.name === "kubewarden_policy_evaluations");
    assert.ok(counter?.dataPointType === DataPointType.SUM && counter.isMonotonic);
    assert.deepEqual(
      counter.dataPoints.map(({ value }) => value),
      [2],
    );
    assert.deepEqual(counter.dataPoints[0]?.attributes, {
      policy_name: "p",
      policy_mode: "protect",
      resource_kind: "Pod",
      resource_request_operation: "CREATE",
      accepted: "true",
      mutated: "false",
      request_origin: "validate",
    });
    const latency = data.find(({ descriptor }) => descriptor.name === "kubewarden_policy_evaluation_latency");
    assert.ok(latency?.dataPointType === DataPointType.HISTOGRAM);
    assert.equal(latency.descriptor.unit, "ms");
    const histogram = latency.dataPoints[0]?.value;
    assert.equal(histogram?.sum, 40_003);
    assert.equal(histogram?.count, 2);
    assert.equal(histogram?.buckets.counts.length, histogram.buckets.boundaries.length + 1);
    assert.deepEqual([histogram?.buckets.counts[1], histogram?.buckets.counts.at(-1)], [1, 1]);
  });

  test("are pushed to a collector that speaks gRPC, and once more at the end", async () => {
    const collector = await startCollector();
    const metrics = measured();
    await withEndpoint(collector.endpoint, () => pushMetrics(async () => ({ metrics, others: [] }), {}).stop());
    const { received } = collector;
    assert.equal(received.length, 1);
    assert.equal(received[0]?.path, "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export");
    for (const text of ["kubewarden_policy_evaluations", "kubewarden-policy-server", "policy_name"]) {
      assert.ok(received[0]?.body.includes(text), text);
    }
    collector.close();
  });
});

describe("traces over OTLP (spec kubewarden.md 8.2)", () => {
  /** Ends are when spans leave. */
  class Kept extends InMemorySpanExporter {
    kept: ReadableSpan[] = [];
    override export(...args: Parameters<InMemorySpanExporter["export"]>): void {
      this.kept.push(...args[0]);
      super.export(...args);
    }
  }

  test("a request is a span with the reference's names, a child of the caller's", async () => {
    const exporter = new Kept();
    const tracer = traceDecisions({ HOSTNAME: "pod-1" }, exporter);
    tracer.record(DECISION, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    tracer.record({ ...DECISION, origin: "validate_raw", outcome: "error" }, "nonsense");
    await tracer.stop();
    const [span, raw] = exporter.kept;
    assert.equal(span?.name, "validation");
    assert.equal(span?.spanContext().traceId, "0af7651916cd43dd8448eb211c80319c");
    assert.equal(span?.resource.attributes["service.name"], "kubewarden-policy-server");
    assert.deepEqual(span?.attributes, {
      host: "pod-1",
      request_uid: "u",
      policy_id: "p",
      name: "web",
      operation: "CREATE",
      kind_group: "",
      kind_version: "v1",
      kind: "Pod",
      resource_group: "",
      resource_version: "v1",
      resource: "pods",
      allowed: false,
      mutated: false,
      response_code: 403,
      response_message: "no",
    });
    assert.deepEqual(
      span?.events.map(({ attributes }) => attributes?.policy_id),
      ["p/a"],
    );
    assert.equal(raw?.name, "validation_raw");
    assert.equal(raw?.status.code, 2);
  });
});
