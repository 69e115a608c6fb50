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
/** Exporters have 1 s in every serving process, then once more in the primary; the rest is for a busy machine. An exporter's own patience is 10 s. */
const STOPS_WITHIN_MS = 4000;

async function serveOnce(endpoint: string, workers: string): Promise<string> {
  const options = ["--policies", file, "--workers", workers, "--log-fmt", "otlp", "--enable-metrics"];
  const server = await withEndpoint(endpoint, () => startExample(...options));
  const headers = { "Content-Type": "application/json", Connection: "close" };
  await fetch(`${server.url}/validate/p`, { method: "POST", headers, body: JSON.stringify(admissionReview()) });
  const start = performance.now();
  assert.equal(await server.stop(), 0);
  assert.ok(performance.now() - start < STOPS_WITHIN_MS, `stopped after ${performance.now() - start} ms`);
  return server.log();
}

async function logged(server: ExampleServer, pattern: RegExp): Promise<RegExpExecArray> {
  for (const deadline = Date.now() + 20_000; ; await sleep(20)) {
    const found = pattern.exec(server.log());
    if (found !== null) return found;
    if (Date.now() > deadline) {
      await server.stop();
      assert.fail(`${pattern} was not logged:\n${server.log()}`);
    }
  }
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

describe("serve --log-fmt otlp", () => {
  for (const [workers, last] of [
    ["1", "stopped"],
    ["2", "all processes are serving"],
  ] as const) {
    test(`with ${workers} process(es): every line is text and a log record, and decisions are spans`, async () => {
      const collector = await startCollector();
      const log = await serveOnce(collector.endpoint, workers);
      collector.close();
      const logs = sentTo(collector, "LogsService");
      for (const text of ["serving policies", "policy evaluated", "no way", "stopping", last]) {
        assert.ok(log.includes(text), `${text} as text`);
        assert.ok(logs.includes(text), `${text} as a record`);
      }
      assert.ok(sentTo(collector, "TraceService").includes("validation"));
      const metrics = sentTo(collector, "MetricsService");
      assert.ok(metrics.includes("kubewarden_policy_evaluations"), "the last metrics know of the request");
      assert.ok(metrics.includes("policy_name"));
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
      for (const collector of [await startCollector(), await startMuteCollector()]) {
        const server = await withThrowOnSignal(() =>
          withEndpoint(collector.endpoint, () =>
            startExample("--policies", file, "--workers", workers, "--log-fmt", "otlp"),
          ),
        );
        const [, pid] = await logged(server, /serving policies.* pid=(\d+)/);
        const start = performance.now();
        process.kill(Number(pid), "SIGUSR2");
        if (workers === "1") {
          assert.equal(await server.exited, 1);
        } else {
          await logged(server, new RegExp(`process died.* process=${pid} code=1`));
        }
        assert.ok(performance.now() - start < STOPS_WITHIN_MS, `ended after ${performance.now() - start} ms`);
        assert.equal(await server.stop(), workers === "1" ? 1 : 0);
        assert.match(server.log(), /^Error: thrown by the test$/m);
        assert.match(server.log(), /ERROR.*uncaught exception/);
        if (collector.answers) assert.ok(sentTo(collector, "LogsService").includes("Error: thrown by the test"));
        collector.close();
      }
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
