import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, describe, test } from "node:test";
import { admissionReview } from "../server/fake-policy.js";
import { freePort, startExample } from "../support/example-server.js";
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
