import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { LogRecordExporter, ReadableLogRecord } from "@opentelemetry/sdk-logs";
import { logDecision } from "../../src/telemetry/decision.js";
import { createLogger, type Logger, type RecordSink } from "../../src/telemetry/logger.js";
import { exportLogs, QUEUE_RECORDS } from "../../src/telemetry/otlp/log-export.js";
import { STOP_WITHIN_MS } from "../../src/telemetry/otlp/stop-within.js";
import { traceDecisions } from "../../src/telemetry/otlp/tracing.js";
import { startCollector, withEndpoint } from "./collector.js";
import { DECISION } from "./otlp-decision.js";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";
const NOW = Date.UTC(2026, 0, 2, 3, 4, 5, 6);
/** Lines in a batch of the exporter. */
const BATCH = 512;

type Result = Parameters<LogRecordExporter["export"]>[1];

/** An exporter that keeps what it gets and answers as it is told. */
class Kept implements LogRecordExporter {
  readonly kept: ReadableLogRecord[] = [];
  readonly #answer: (done: Result) => void;

  constructor(answer: (done: Result) => void = (done) => done({ code: 0 })) {
    this.#answer = answer;
  }

  export(records: ReadableLogRecord[], done: Result): void {
    this.kept.push(...records);
    this.#answer(done);
  }

  async forceFlush(): Promise<void> {}
  async shutdown(): Promise<void> {}
}

function logging(records: RecordSink): { logger: Logger; lines: string[] } {
  const lines: string[] = [];
  const sink = { write: (line: string) => void lines.push(line), flushSync: () => {}, dropped: 0 };
  return { lines, logger: createLogger({ sink, records, level: "debug", clock: () => NOW }) };
}

describe("log records over OTLP", () => {
  test("severity, body, fields, target, time and resource are the line's; the line is written too", async () => {
    const exporter = new Kept();
    const logs = exportLogs({ HOSTNAME: "pod-1" }, exporter);
    const { logger, lines } = logging(logs);
    logger.log("trace", "below the level");
    logger.debug("d");
    logger.info("hello", { n: 1, yes: true, nothing: undefined, would_be: { allowed: false, x: undefined }, l: ["a"] });
    logger.warn("w");
    logger.named("policy_log").error("e");
    await logs.stop();
    assert.equal(lines.length, 4);
    assert.deepEqual(
      exporter.kept.map(({ severityNumber, severityText, body }) => [severityNumber, severityText, body]),
      [
        [5, "DEBUG", "d"],
        [9, "INFO", "hello"],
        [13, "WARN", "w"],
        [17, "ERROR", "e"],
      ],
    );
    const [, info, , error] = exporter.kept;
    assert.deepEqual(info?.attributes, { n: 1, yes: true, would_be: { allowed: false }, l: ["a"] });
    assert.equal(info?.instrumentationScope.name, "policy_server");
    assert.equal(error?.instrumentationScope.name, "policy_log");
    assert.equal(info?.resource.attributes["service.name"], "kubewarden-policy-server");
    assert.equal(info?.resource.attributes["host.name"], "pod-1");
    assert.deepEqual(info?.hrTime, [NOW / 1000 - 0.006, 6_000_000]);
    assert.equal(info?.spanContext, undefined);
    assert.equal(logs.dropped, 0);
  });

  test("a decision belongs to the trace of its request", async () => {
    const exporter = new Kept();
    const logs = exportLogs({}, exporter);
    const { logger } = logging(logs);
    logDecision(logger, DECISION, `00-${TRACE}-${SPAN}-01`);
    logDecision(logger, DECISION, "nonsense");
    await logs.stop();
    const [record, stray] = exporter.kept;
    assert.equal(record?.spanContext?.traceId, TRACE);
    assert.equal(record?.spanContext?.spanId, SPAN);
    assert.equal(record?.attributes.policy_id, "p");
    assert.deepEqual(record?.attributes.members, [{ policy: "p/a", outcome: "deny", milliseconds: 1 }]);
    assert.equal(stray?.spanContext, undefined);
  });

  test("a tracer names the span that the decision's record then belongs to", async () => {
    const tracer = traceDecisions({}, { export: (_, done) => done({ code: 0 }), shutdown: async () => {} });
    const span = tracer.record(DECISION, `00-${TRACE}-${SPAN}-01`);
    assert.match(span, new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`));
    assert.ok(!span.includes(SPAN));
    await tracer.stop();
  });

  test("strings that a guest made very long are cut, so that a batch fits the receiver", async () => {
    const exporter = new Kept();
    const logs = exportLogs({}, exporter);
    logging(logs).logger.info("m".repeat(100_000), { data: "d".repeat(100_000) });
    await logs.stop();
    assert.equal(exporter.kept[0]?.body, `${"m".repeat(4096)}…`);
    assert.equal(exporter.kept[0]?.attributes.data, `${"d".repeat(4096)}…`);
  });

  test("a collector that hangs costs no time: what does not fit the queue is dropped and counted, the end is not held up", async () => {
    const exporter = new Kept(() => {});
    const logs = exportLogs({}, exporter);
    const { logger } = logging(logs);
    const written = BATCH + QUEUE_RECORDS + 10;
    for (let i = 0; i < BATCH; i++) logger.info("first batch");
    // The first batch is handed over in a later turn.
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(exporter.kept.length, BATCH);
    for (let i = BATCH; i < written; i++) logger.info("more");
    assert.equal(logs.dropped, 10);
    // Timers come in the order of their times, however late they are.
    const late = sleep(5 * STOP_WITHIN_MS, "late", { ref: false });
    assert.equal(await Promise.race([logs.stop(), late]), undefined);
    assert.equal(logs.dropped, written);
  });

  test("records that the collector refuses are counted", async () => {
    const logs = exportLogs({}, new Kept((done) => done({ code: 1 })));
    logging(logs).logger.info("x");
    await logs.stop();
    assert.equal(logs.dropped, 1);
  });

  test("are sent over gRPC to where the standard variable says, the last ones at the end", async () => {
    const collector = await startCollector();
    await withEndpoint(collector.endpoint, async () => {
      const logs = exportLogs({});
      logDecision(logging(logs).logger, DECISION, `00-${TRACE}-${SPAN}-01`);
      await logs.stop();
      assert.equal(logs.dropped, 0);
    });
    collector.close();
    assert.equal(collector.received.length, 1);
    const [call] = collector.received;
    assert.equal(call?.path, "/opentelemetry.proto.collector.logs.v1.LogsService/Export");
    for (const text of ["policy evaluated", "INFO", "policy_server", "kubewarden-policy-server", "policy_id"]) {
      assert.ok(call?.body.includes(text), text);
    }
    assert.ok(call?.body.includes(Buffer.from(TRACE, "hex")), "trace id");
    assert.ok(call?.body.includes(Buffer.from(SPAN, "hex")), "span id");
  });
});
