import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { admissionReview } from "../server/fake-policy.js";
import { type ExampleServer, freePort, startExample } from "../support/example-server.js";
import { type Collector, startCollector, startMuteCollector, withEndpoint } from "../telemetry/collector.js";

const folder = mkdtempSync(path.join(os.tmpdir(), "serve-otlp-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const file = path.join(folder, "policies.yaml");
writeFileSync(file, `p:\n  cel:\n    validations:\n      - expression: "false"\n        message: no way\n`);
/** An exporter's own patience here, in milliseconds: whoever left the end to exporters would not see it. */
const PATIENCE = "600000";
const PATIENT = {
  OTEL_EXPORTER_OTLP_TIMEOUT: PATIENCE,
  OTEL_BLRP_EXPORT_TIMEOUT: PATIENCE,
  OTEL_BSP_EXPORT_TIMEOUT: PATIENCE,
  OTEL_METRIC_EXPORT_TIMEOUT: PATIENCE,
  OTEL_METRIC_EXPORT_INTERVAL: PATIENCE,
};
Object.assign(process.env, PATIENT);
/** When it is given up that a server ends. It takes a few seconds. */
const GIVE_UP_MS = 120_000;
/** The last records have a second to get to the collector, which a busy machine may not have for them. */
const TRIES = 3;

/** Resolves with the exit code of a server that ends by itself, or was told to. */
async function ended(server: ExampleServer, end: Promise<number | null>): Promise<number | null> {
  const over = new AbortController();
  const late = sleep(GIVE_UP_MS, "late" as const, { signal: over.signal }).catch(() => "late" as const);
  const code = await Promise.race([end, late]);
  over.abort();
  if (code !== "late") return code;
  process.kill(server.pid, "SIGKILL");
  return assert.fail(`the server does not end:\n${server.log()}`);
}

async function serveOnce(endpoint: string, workers: string): Promise<string> {
  const options = ["--policies", file, "--workers", workers, "--log-fmt", "otlp", "--enable-metrics"];
  const server = await withEndpoint(endpoint, () => startExample(...options));
  const headers = { "Content-Type": "application/json", Connection: "close" };
  await fetch(`${server.url}/validate/p`, { method: "POST", headers, body: JSON.stringify(admissionReview()) });
  assert.equal(await ended(server, server.stop()), 0);
  return server.log();
}

/** Serving processes that are started by `run` throw an exception out of nowhere when they get SIGUSR2. */
async function withThrowOnSignal<T>(run: () => Promise<T>): Promise<T> {
  const hook = path.join(folder, "throw.mjs");
  writeFileSync(hook, `process.on("SIGUSR2", () => { throw new Error("thrown by the test"); });`);
  process.env.NODE_OPTIONS = `--import=${pathToFileURL(hook)}`;
  try {
    return await run();
  } finally {
    delete process.env.NODE_OPTIONS;
  }
}

function sentTo(collector: Collector, service: string): Buffer {
  return Buffer.concat(collector.received.filter(({ path }) => path.includes(service)).map(({ body }) => body));
}

const missingIn = (sent: Buffer, texts: readonly string[]): string[] => texts.filter((text) => !sent.includes(text));

describe("serve --log-fmt otlp", () => {
  for (const [workers, last] of [
    ["1", "stopped"],
    ["2", "all processes are serving"],
  ] as const) {
    test(`with ${workers} process(es): every line is text and a log record, and decisions are spans`, async () => {
      const texts = ["serving policies", "policy evaluated", "no way", "stopping", last];
      let missing: readonly string[] = [];
      for (let tries = 0; tries < TRIES; tries++) {
        const collector = await startCollector();
        const log = await serveOnce(collector.endpoint, workers);
        collector.close();
        for (const text of texts) assert.ok(log.includes(text), `${text} as text`);
        missing = [
          ...missingIn(sentTo(collector, "LogsService"), texts),
          ...missingIn(sentTo(collector, "TraceService"), ["validation"]),
          // The last metrics know of the request.
          ...missingIn(sentTo(collector, "MetricsService"), ["kubewarden_policy_evaluations", "policy_name"]),
        ];
        if (missing.length === 0) break;
      }
      assert.deepEqual(missing, []);
    });

    test(`with ${workers} process(es): a collector that is away does not keep it from ending`, async () => {
      const log = await serveOnce(`http://127.0.0.1:${await freePort()}`, workers);
      assert.ok(log.includes("policy evaluated"));
    });

    test(`with ${workers} process(es): a collector that never answers does not keep it from ending`, async () => {
      for (const collector of [await startCollector(false), await startMuteCollector()]) {
        const log = await serveOnce(collector.endpoint, workers);
        collector.close();
        assert.ok(log.includes("policy evaluated"));
      }
    });
  }

  for (const workers of ["1", "2"]) {
    test(`with ${workers} process(es): an exception that nobody catches is the last log record, and ends the process at once with 1`, async () => {
      const records: Buffer[] = [];
      const text = "Error: thrown by the test";
      for (let tries = 0; tries < TRIES + 1; tries++) {
        // First one that never answers; then the record has to come through.
        const collector = tries === 0 ? await startMuteCollector() : await startCollector();
        const server = await withThrowOnSignal(() =>
          withEndpoint(collector.endpoint, () =>
            startExample("--policies", file, "--workers", workers, "--log-fmt", "otlp"),
          ),
        );
        const [, pid] = await server.said(/serving policies.* pid=(\d+)/);
        process.kill(Number(pid), "SIGUSR2");
        if (workers === "1") {
          assert.equal(await ended(server, server.exited), 1);
        } else {
          await server.said(new RegExp(`process died.* process=${pid} code=1`));
        }
        assert.equal(await ended(server, server.stop()), workers === "1" ? 1 : 0);
        assert.match(server.log(), /^Error: thrown by the test$/m);
        assert.match(server.log(), /ERROR.*uncaught exception/);
        collector.close();
        records.push(sentTo(collector, "LogsService"));
        if (records.some((sent) => sent.includes(text))) break;
      }
      assert.ok(
        records.some((sent) => sent.includes(text)),
        "the exception as a record",
      );
    });
  }

  test("what keeps it from starting is said as text on the standard error output", async () => {
    const broken = path.join(folder, "broken.yaml");
    writeFileSync(broken, "p: [");
    const collector = await startCollector();
    await withEndpoint(collector.endpoint, () =>
      assert.rejects(
        startExample("--policies", broken, "--workers", "1", "--log-fmt", "otlp"),
        /Error: error while loading policies from/,
      ),
    );
    collector.close();
  });
});
