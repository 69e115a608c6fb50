import assert from "node:assert/strict";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { outputFor } from "../../../src/cli/apply/output.js";
import { Run } from "../../../src/cli/apply/run.js";
import { NO_VALUES } from "../../../src/offline/scan/circumstances.js";
import type { ClusterListing } from "../../../src/offline/scan/cluster-listing.js";
import { Inputs } from "../../../src/offline/scan/input-files.js";
import { openScan } from "../../../src/offline/scan/open-scan.js";
import type { ScanPlan } from "../../../src/offline/scan/scan-plan.js";
import { scanTools } from "../../../src/offline/scan/scan-tools.js";
import { written } from "../../support/written.js";

const POLICY = `apiVersion: policies.kyverno.io/v1
kind: ValidatingPolicy
metadata: {name: even}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}
  validations: [{expression: "!object.metadata.name.endsWith('7')", messageExpression: "'not ' + object.metadata.name"}]
`;
const RESOURCES = 20_000;

/** A run over a cluster, whose threads would be told of this context file. */
interface ClusterRun {
  readonly listing: ClusterListing;
  readonly contextFile: string;
}

describe("a run over resources", () => {
  let folder = "";
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "run-"));
    writeFileSync(join(folder, "policy.yaml"), POLICY);
    const names = Array.from({ length: RESOURCES }, (_, i) => (i === RESOURCES - 1 ? "p7" : `p${i}`));
    const lines = names.map((name) => `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"${name}"}}\n`);
    writeFileSync(join(folder, "pods.jsonl"), lines.join(""));
  });
  after(() => rmSync(folder, { recursive: true }));

  async function run(threadsFrom: number, counted: number, cluster?: ClusterRun) {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const [out, err] = [text(stdout), text(stderr)];
    const io = { env: {}, stdin: Readable.from([]), stdout, stderr };
    const output = outputFor(
      { reportApi: "openreports.io", outputFormat: "yaml" },
      { auditWarn: false, time: 0, color: false, warn: () => {} },
    );
    const plan: ScanPlan = {
      policyPaths: [join(folder, "policy.yaml")],
      policyIds: [],
      stdin: "",
      exceptions: [],
      exceptionsWithinPolicies: false,
      values: NO_VALUES,
      operation: "CREATE",
      user: {},
      definitions: [],
      parameterPaths: [],
      wanted: output.wanted,
    };
    const tools = scanTools({}, io);
    const opened = { ...(await openScan(plan, tools)), listing: cluster?.listing };
    const files = await new Inputs().files([join(folder, "pods.jsonl")]);
    const judging = new Run({
      opened,
      output,
      io,
      plan: { ...plan, ...(cluster && { contextFile: cluster.contextFile }) },
      total: counted,
      settings: {},
      progress: false,
      threadsFrom,
    });
    try {
      await judging.resources(files, {
        resources: counted,
        first: "p0",
        exceptions: [],
        unreadable: [],
        held: undefined,
        empty: [],
        warnings: [],
      });
      await judging.end();
    } finally {
      await tools.close();
      stdout.end();
      stderr.end();
    }
    return { counts: judging.counts, out: await out, err: await err };
  }

  test("comes to the same with threads and without, in the same order", {
    skip: availableParallelism() === 1,
  }, async () => {
    assert.ok(statSync(join(folder, "pods.jsonl")).size > 1024 * 1024, "several batches");
    const alone = await run(Number.POSITIVE_INFINITY, RESOURCES);
    assert.deepEqual(await run(0, RESOURCES), alone);
    assert.deepEqual(alone.counts, { pass: 17_999, fail: 2_000, error: 0, skip: 0, judged: 19_999 });
    assert.equal(alone.err, "warning: found duplicated resource Pod p7 default\n");
  });

  test("has no threads beside a cluster, which they would not ask", async () => {
    const refused = "a thread could not even begin with this";
    const { counts } = await run(0, RESOURCES, { listing: {} as ClusterListing, contextFile: refused });
    assert.equal(counts.pass, 17_999);
  });

  test("says at once when a policy breaks its contract", () => {
    const stderr = new PassThrough({ encoding: "utf8" });
    scanTools({}, { stderr }).onDefect("no-bad", new Error("gone"));
    assert.equal(written(stderr), "warning: no-bad: Error: gone\n");
  });

  test("is no success when other resources were judged than counted", async () => {
    await assert.rejects(run(Number.POSITIVE_INFINITY, RESOURCES + 1), /20000 resources were judged of 20001/);
  });
});
