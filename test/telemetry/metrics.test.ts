import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Metrics } from "../../src/telemetry/metrics.js";

const SAMPLE = {
  policy: "p",
  mode: "protect",
  kind: "Pod",
  operation: "CREATE",
  namespace: "default",
  accepted: false,
  mutated: false,
  origin: "validate",
  code: 403,
  milliseconds: 7,
};

describe("metrics (spec kubewarden.md 8.1)", () => {
  test("evaluations carry Kubewarden's labels, as counter and as histogram", async () => {
    const metrics = new Metrics(false);
    metrics.evaluated(SAMPLE);
    metrics.evaluated({ ...SAMPLE, milliseconds: 8 });
    const text = (await metrics.text()).join("");
    const labels =
      'policy_name="p",policy_mode="protect",resource_kind="Pod",resource_request_operation="CREATE",resource_namespace="default",accepted="false",mutated="false",request_origin="validate",error_code="403"';
    assert.ok(text.includes(`kubewarden_policy_evaluations_total{${labels}} 2\n`), text);
    assert.ok(text.includes(`kubewarden_policy_evaluation_latency_milliseconds_bucket{${labels},le="5"} 0\n`));
    assert.ok(text.includes(`kubewarden_policy_evaluation_latency_milliseconds_bucket{${labels},le="10"} 2\n`));
    assert.ok(text.includes(`kubewarden_policy_evaluation_latency_milliseconds_bucket{${labels},le="+Inf"} 2\n`));
    assert.ok(text.includes(`kubewarden_policy_evaluation_latency_milliseconds_sum{${labels}} 15\n`));
  });

  test("raw evaluations leave out what they don't have; broken policies count under their error", async () => {
    const metrics = new Metrics(false);
    const raw = {
      ...SAMPLE,
      kind: undefined,
      operation: undefined,
      namespace: undefined,
      origin: undefined,
      code: undefined,
    };
    metrics.evaluated(raw);
    metrics.initializationError("b", "Policy settings are invalid: x");
    const text = (await metrics.text()).join("");
    assert.ok(
      text.includes(
        'kubewarden_policy_evaluations_total{policy_name="p",policy_mode="protect",accepted="false",mutated="false"} 1\n',
      ),
    );
    assert.ok(
      text.includes(
        'kubewarden_policy_evaluations_total{policy_name="b",initialization_error="Policy settings are invalid: x"} 1\n',
      ),
    );
  });

  test("gauges are read when somebody asks", async () => {
    const metrics = new Metrics(false);
    let value = 1;
    metrics.gauge("requests_in_flight", () => value);
    value = 7;
    assert.match((await metrics.text()).join(""), /^policy_server_requests_in_flight 7$/m);
  });
});
