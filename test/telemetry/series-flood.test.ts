/** Clients that invent namespaces: what is shown is limited, true, and the same whether one process counts or several. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type EvaluationSample, Metrics } from "../../src/telemetry/metrics.js";
import { toMetricData } from "../../src/telemetry/otlp/metric-data.js";
import { COUNTER_LIMITS, HISTOGRAM_LIMITS } from "../../src/telemetry/series.js";
import { Slices } from "../../src/telemetry/slices.js";

const FLOOD = 12_000;
const COUNTER = "kubewarden_policy_evaluations_total";
const LATENCY = "kubewarden_policy_evaluation_latency_milliseconds";

function sample(namespace: number, policy = "p"): EvaluationSample {
  return {
    policy,
    mode: "protect",
    kind: "Pod",
    operation: "CREATE",
    namespace: `namespace-${namespace}`,
    accepted: namespace % 2 === 0,
    mutated: false,
    origin: "validate",
    code: undefined,
    milliseconds: 3,
  };
}

async function linesOf(metrics: Metrics): Promise<Map<string, number>> {
  const lines = (await metrics.text()).join("").split("\n");
  const values = lines.filter((line) => /^[a-z]/.test(line)).map((line) => /^(.*) (\S+)$/.exec(line) ?? []);
  return new Map(values.map(([, series = "", value]) => [series, Number(value)]));
}

function named(lines: ReadonlyMap<string, number>, name: string, having = ""): number[] {
  return [...lines].filter(([line]) => line.startsWith(`${name}{`) && line.includes(having)).map(([, value]) => value);
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

describe("twelve thousand namespaces", () => {
  test("are counted without one event lost, policies and verdicts still told apart, and what is folded is said", async () => {
    const metrics = new Metrics(false);
    for (let i = 0; i < FLOOD; i++) for (const policy of ["p", "q", "r"]) metrics.evaluated(sample(i, policy));
    const lines = await linesOf(metrics);
    // Three policies with two verdicts each are folded.
    assert.equal(named(lines, COUNTER).length, COUNTER_LIMITS.chosen + 6);
    assert.equal(named(lines, `${LATENCY}_count`).length, HISTOGRAM_LIMITS.chosen + 6);
    for (const name of [COUNTER, `${LATENCY}_count`]) {
      assert.equal(sum(named(lines, name)), 3 * FLOOD);
      for (const policy of ["p", "q", "r"]) {
        assert.equal(sum(named(lines, name, `policy_name="${policy}"`)), FLOOD);
        assert.ok(sum(named(lines, name, `policy_name="${policy}"`)) > 0);
      }
      assert.equal(sum(named(lines, name, 'accepted="true"')), 1.5 * FLOOD);
    }
    const folded = (metric: string) => lines.get(`policy_server_metrics_folded_total{metric="${metric}"}`);
    assert.equal(folded(COUNTER), 3 * FLOOD - COUNTER_LIMITS.chosen);
    assert.equal(folded(LATENCY), 3 * FLOOD - HISTOGRAM_LIMITS.chosen);
    assert.equal(sum(named(lines, COUNTER, 'resource_namespace="other"')), folded(COUNTER));
    assert.ok((await metrics.text()).join("").length < 5_000_000);
  });

  test("no series goes backwards while the flood comes", async () => {
    const metrics = new Metrics(false);
    let before = new Map<string, number>();
    for (let round = 0; round < 6; round++) {
      for (let i = 0; i < FLOOD; i += 7) metrics.evaluated(sample((i * 31 + round * 1000) % FLOOD));
      const now = await linesOf(metrics);
      for (const [series, value] of before) assert.ok((now.get(series) ?? -1) >= value, series);
      before = now;
    }
  });

  test("of several processes are limited together, and their sums keep what has been handed over", async () => {
    const totals = new Metrics(false);
    const processes = [new Metrics(false), new Metrics(false)];
    let before = new Map<string, number>();
    for (let round = 1; round <= 3; round++) {
      for (let i = 0; i < FLOOD; i++) processes[i % 2]?.evaluated(sample((i * round) % FLOOD));
      for (const process of processes)
        for await (const batch of process.take()) totals.add(JSON.parse(JSON.stringify(batch)));
      const now = await linesOf(totals);
      assert.equal(sum(named(now, COUNTER)), round * FLOOD);
      assert.equal(sum(named(now, `${LATENCY}_count`)), round * FLOOD);
      assert.equal(sum(named(now, `${LATENCY}_sum`)), 3 * round * FLOOD);
      assert.ok(named(now, COUNTER).length <= COUNTER_LIMITS.chosen + 2);
      assert.equal(
        now.get(`policy_server_metrics_folded_total{metric="${COUNTER}"}`),
        sum(named(now, COUNTER, 'resource_namespace="other"')),
      );
      for (const [series, value] of before) assert.ok((now.get(series) ?? -1) >= value, series);
      before = now;
    }
  });

  test("what was handed over is not handed over again", async () => {
    const metrics = new Metrics(false);
    metrics.evaluated(sample(1));
    const take = async () => {
      const tables: number[] = [];
      for await (const { table } of metrics.take()) tables.push(table);
      return tables;
    };
    assert.equal((await take()).length, 1);
    assert.equal((await take()).length, 0);
  });

  test("others have their turn while they are read and handed over", async () => {
    const metrics = new Metrics(false);
    for (let i = 0; i < FLOOD; i++) metrics.evaluated(sample(i));
    // A slow clock: every look at it costs a millisecond.
    let now = 0;
    const slices = (): Slices => new Slices(() => now++);
    let turns = 0;
    let running = true;
    const turn = (): void => {
      turns += 1;
      if (running) setImmediate(turn);
    };
    turn();
    const series = COUNTER_LIMITS.chosen + HISTOGRAM_LIMITS.chosen;
    await metrics.text(async () => "", slices());
    assert.ok(turns > series / 20, `${turns} turns for the text`);
    turns = 0;
    for await (const { series } of metrics.take(slices())) assert.ok(series.length <= 200);
    assert.ok(turns > series / 20, `${turns} turns for handing over`);
    running = false;
  });

  test("are pushed within the same limits", async () => {
    const metrics = new Metrics(false);
    for (let i = 0; i < FLOOD; i++) metrics.evaluated(sample(i));
    const data = await toMetricData({ metrics, others: [] }, [1, 0], [2, 0]);
    const points = data.map(({ dataPoints }) => dataPoints.length);
    assert.equal(Math.max(...points), COUNTER_LIMITS.chosen + 2);
    assert.ok(sum(points) <= COUNTER_LIMITS.chosen + HISTOGRAM_LIMITS.chosen + 10);
  });
});
