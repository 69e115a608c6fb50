import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { GatheredMetrics } from "../../src/serving/gathered-metrics.js";
import { WantedSums } from "../../src/serving/worker.js";
import { Metrics, type MetricsText } from "../../src/telemetry/metrics.js";

/** A serving process, by number. */
class Process {
  readonly metrics = new Metrics(false);

  constructor(
    readonly id: number,
    readonly policies: number,
  ) {
    this.metrics.gauge("policies", () => this.policies);
    this.metrics.gauge("requests_in_flight", () => 1);
  }

  async handOver(gathered: GatheredMetrics): Promise<void> {
    for await (const batch of this.metrics.take()) gathered.add(batch);
    gathered.latest(this.id, await this.metrics.registry.getMetricsAsJSON());
  }
}

function whole(text: MetricsText): string {
  assert.ok("parts" in text, JSON.stringify(text));
  return text.parts.join("");
}

describe("metrics of all processes", () => {
  test("are added up, gauges that all have alike are not", async () => {
    const processes = [new Process(1, 5), new Process(2, 5)];
    const gathered: GatheredMetrics = new GatheredMetrics(async () => {
      for (const process of processes) await process.handOver(gathered);
      return undefined;
    });
    for (const { metrics } of processes) metrics.refused("full");
    for (let i = 0; i < 3; i++) {
      const text = whole(await gathered.text());
      assert.match(text, /^policy_server_refused_requests_total\{reason="full"\} 2$/m);
      assert.match(text, /^policy_server_policies 5$/m);
      assert.match(text, /^policy_server_requests_in_flight 2$/m);
    }
  });

  test("count the lines that the gathering process itself has lost", async () => {
    const serving = new Process(1, 5);
    serving.metrics.losses("log_lines_dropped", () => 2);
    const gathered: GatheredMetrics = new GatheredMetrics(async () => {
      await serving.handOver(gathered);
      return undefined;
    });
    gathered.totals.losses("log_lines_dropped", () => 3);
    assert.match(whole(await gathered.text()), /^policy_server_log_lines_dropped_total 5$/m);
    assert.match(whole(await gathered.text()), /^policy_server_policies 5$/m);
    gathered.ended(1);
    assert.match(
      whole(await gathered.text()),
      /^policy_server_log_lines_dropped_total 5$/m,
      "of a process that has ended, too",
    );
  });

  test("keep what a process had counted when it ends, but not what was true of a moment", async () => {
    const gone = new Process(1, 5);
    const gathered = new GatheredMetrics(async () => undefined);
    gone.metrics.refused("late");
    await gone.handOver(gathered);
    gathered.ended(1);
    const text = whole(await gathered.text());
    assert.match(text, /^policy_server_refused_requests_total\{reason="late"\} 1$/m);
    assert.doesNotMatch(text, /requests_in_flight/);
  });

  test("the processor time of a process that has ended stays in the sum, however many end", async () => {
    const gathered = new GatheredMetrics(async () => undefined);
    const metrics = new Metrics();
    const spent: number[] = [];
    for (let id = 1; id <= 3; id++) {
      gathered.latest(id, await metrics.registry.getMetricsAsJSON());
      gathered.ended(id);
      spent.push(Number(/^process_cpu_seconds_total (\S+)$/m.exec(whole(await gathered.text()))?.[1]));
    }
    assert.ok((spent[0] ?? 0) > 0);
    assert.deepEqual(
      spent,
      spent.toSorted((a, b) => a - b),
    );
    assert.ok((spent[2] ?? 0) >= 3 * (spent[0] ?? 0) * 0.999);
  });

  test("are not shown when one process did not hand over its part, and are whole again when all do", async () => {
    let missing: string | undefined = "1 of 2";
    const gathered = new GatheredMetrics(async () => missing);
    gathered.totals.refused("full");
    assert.deepEqual(await gathered.text(), { unavailable: "1 of 2" });
    // What is pushed is cumulative: nothing is lost by what comes later.
    assert.equal((await gathered.pushed()).metrics, gathered.totals);
    missing = undefined;
    assert.match(whole(await gathered.text()), /refused_requests_total\{reason="full"\} 1/);
  });

  test("who asks at the same time shares one gathering", async () => {
    let gatherings = 0;
    const gathered = new GatheredMetrics(async () => {
      gatherings += 1;
      await new Promise(setImmediate);
      return undefined;
    });
    const [first, ...others] = await Promise.all(Array.from({ length: 20 }, () => gathered.text()));
    assert.equal(gatherings, 1);
    for (const other of others) assert.equal(other, first);
    await gathered.text();
    assert.equal(gatherings, 2);
  });
});

describe("metrics for a client of a serving process", () => {
  const hear = (wanted: WantedSums<string>, id: number, text: string, last: boolean): void =>
    wanted.hear(id, (soFar = "") => soFar + text, last);

  test("come in parts and are answered whole, once for all who ask", async () => {
    const asked: number[] = [];
    const wanted = new WantedSums<string>(
      (id) => asked.push(id),
      () => "late",
    );
    const answers = Promise.all([wanted.get(), wanted.get()]);
    hear(wanted, 0, "a", false);
    hear(wanted, 0, "b", true);
    assert.deepEqual(await answers, ["ab", "ab"]);
    assert.deepEqual(asked, [0]);
  });

  test("are late when the primary says nothing or not all in time; what comes later is dropped", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const wanted = new WantedSums<string>(
      () => {},
      (ms) => `later than ${ms} ms`,
    );
    const late = wanted.get();
    hear(wanted, 0, "a", false);
    t.mock.timers.tick(8000);
    assert.equal(await late, "later than 8000 ms");
    const next = wanted.get();
    hear(wanted, 0, "b", true);
    hear(wanted, 1, "c", true);
    assert.equal(await next, "c");
  });
});
