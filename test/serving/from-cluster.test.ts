/** A process that serves what deltas tell of a cluster, beside its policies file. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { serveSettings } from "../../src/cli/serve-settings.js";
import type { ClusterDelta } from "../../src/config/from-cluster/index.js";
import { createPolicySource } from "../../src/loader/policy-source.js";
import type { Prepared, ProblemReport } from "../../src/serving/messages.js";
import { type ServingOptions, ServingProcess } from "../../src/serving/process.js";
import { Metrics } from "../../src/telemetry/metrics.js";
import { keptLog } from "../cluster/approver/support.js";
import { delta, document, kyvernoPolicy } from "../config/from-cluster/support.js";
import { folder } from "../config/helpers.js";

// A file that has one of the names that are looked for would be served, too.
const nowhere = mkdtempSync(join(tmpdir(), "from-cluster-"));
process.chdir(nowhere);
after(() => rmSync(nowhere, { recursive: true }));

const [A, B, BROKEN] = [kyvernoPolicy("a", "true"), kyvernoPolicy("b", "true"), kyvernoPolicy("a", "nope")];

/** A process; its file, where one is wanted, has these policies. */
async function start(context: TestContext, policies?: string, more: Partial<ServingOptions> = {}) {
  const root = folder(context, policies === undefined ? {} : { "policies.yaml": policies });
  const file = join(root, "policies.yaml");
  const { logger, lines } = keptLog();
  const fromCluster = { policyServer: "default", namespaced: {}, exceptionNamespaces: new Set<string>() };
  const own = policies === undefined ? undefined : file;
  const source = createPolicySource({ fromCluster, workers: 1, file: own }, { logger });
  const limits = {
    maxBodyBytes: 100_000,
    maxConcurrentRequests: 9,
    maxQueuedRequests: 9,
    drainDelay: 0,
    drainGrace: 0,
  };
  const serving = await ServingProcess.start({
    settings: serveSettings({ ...limits, addr: "127.0.0.1", port: 0, readinessProbePort: 0 }),
    source,
    logger,
    metrics: new Metrics(false),
    probes: false,
    cut: new AbortController().signal,
    ...more,
  });
  context.after(async () => {
    await serving.stop(0, 0);
    source.close();
  });
  const port = lines.find(({ message }) => message === "serving policies")?.fields.port;
  const serve = async (change?: ClusterDelta): Promise<Prepared> => {
    const prepared = await serving.prepare(undefined, change);
    if (prepared.ok) serving.swap();
    else serving.discard();
    return prepared;
  };
  return {
    serve,
    reports: serving.reports,
    lines,
    write: (text: string) => writeFileSync(file, text),
    /** What `GET /policies` tells: ids, with `!` those that are unavailable and `~` those that are outdated. */
    async served(): Promise<string[]> {
      const answer = await fetch(`http://127.0.0.1:${port}/policies`);
      const { policies: rows } = (await answer.json()) as {
        policies: { id: string; available: boolean; outdated?: string }[];
      };
      return rows.map(
        ({ id, available, outdated }) => `${available ? "" : "!"}${outdated === undefined ? "" : "~"}${id}`,
      );
    },
  };
}

const states = ({ reports }: Prepared) => reports?.map(({ id, state }) => `${id} ${state}`);
const own = (expression: string) => `own: { cel: { validations: [ { expression: "${expression}" } ] } }\n`;

test("deltas come and go without a policies file", async (context) => {
  const { serve, served } = await start(context);
  assert.deepEqual(await served(), []);
  assert.deepEqual(states(await serve(delta(1, [A]))), ["validatingpolicy-a loaded"]);
  assert.deepEqual(states(await serve(delta(2, [B], { base: 1 }))), ["validatingpolicy-b loaded"]);
  assert.deepEqual(await served(), ["validatingpolicy-a", "validatingpolicy-b"]);
  await serve(delta(3, [], { base: 2, removed: [A.key] }));
  assert.deepEqual(await served(), ["validatingpolicy-b", "~validatingpolicy-a"]);
});

test("a delta that begins elsewhere is answered with what is needed, and changes nothing", async (context) => {
  const { serve, served } = await start(context);
  await serve(delta(1, [A]));
  assert.deepEqual(await serve(delta(9, [B], { base: 8 })), { ok: false, needs: "whole" });
  assert.deepEqual(await served(), ["validatingpolicy-a"]);
  // Whoever tells everything knows nothing of what became of it.
  await serve(delta(2, [B], { base: 1 }));
  assert.deepEqual(states(await serve(delta(9, [B, BROKEN]))), [
    "validatingpolicy-a last-good",
    "validatingpolicy-b loaded",
  ]);
});

test("a broken version keeps the last good one, and stops neither others nor the files", async (context) => {
  const { serve, served, write } = await start(context, own("true"));
  await serve(delta(1, [A]));
  assert.deepEqual(states(await serve(delta(2, [BROKEN, B], { base: 1 }))), [
    "validatingpolicy-a last-good",
    "validatingpolicy-b loaded",
  ]);
  write(`${own("true")}more: { cel: { validations: [ { expression: "true" } ] } }\n`);
  assert.equal((await serve()).ok, true);
  assert.deepEqual(await served(), ["own", "more", "~validatingpolicy-a", "validatingpolicy-b"]);
});

test("a policies file that is worse is kept out, and changes in the cluster go on", async (context) => {
  const { serve, served, write } = await start(context, own("true"));
  await serve(delta(1, [A]));
  write(own("nope"));
  assert.equal((await serve()).ok, false);
  assert.equal((await serve(delta(2, [B], { base: 1 }))).ok, true);
  assert.deepEqual(await served(), ["own", "validatingpolicy-a", "validatingpolicy-b"]);
});

test("a policy of the file goes before the cluster's of that id", async (context) => {
  const { serve, served, write } = await start(context, own("true"));
  await serve(delta(1, [A]));
  write(own("true").replace("own", "validatingpolicy-a"));
  assert.deepEqual(states(await serve()), ["validatingpolicy-a refused"]);
  assert.deepEqual(await served(), ["validatingpolicy-a"]);
});

test("a file that leaves an id to a policy of the cluster is not worse for that being broken", async (context) => {
  const { serve, served, write } = await start(context, own("true").replace("own", "validatingpolicy-a"));
  await serve(delta(1, [BROKEN]));
  write(own("true"));
  assert.equal((await serve()).ok, true);
  assert.deepEqual(await served(), ["own", "!validatingpolicy-a"]);
});

test("mistakes are logged once, not with each change of something else", async (context) => {
  const { serve, lines } = await start(context);
  const problems = () => lines.filter(({ message }) => message.startsWith("ValidatingPolicy a:")).length;
  await serve(delta(1, [BROKEN]));
  assert.equal(problems(), 1);
  await serve(delta(2, [B], { base: 1 }));
  assert.equal(problems(), 1);
});

test("a successor begins with all that the cluster has; what is broken there stops it in no case", async (context) => {
  const limits = { maxBodyBytes: 1000, maxConcurrentRequests: 1, maxQueuedRequests: 1, drainDelay: 0, drainGrace: 0 };
  const settings = serveSettings({ ...limits, addr: "127.0.0.1", port: 0, readinessProbePort: 0, strict: true });
  const reports: ProblemReport[] = [];
  const report = (each: ProblemReport) => void reports.push(each);
  // A doubt, which is said once: the file is read once.
  const member = "{ cel: { validations: [ { expression: 'true' } ] } }";
  const file = `own: { expression: a(), message: m, policies: { a: ${member}, b-c: ${member} } }\n`;
  const deltas = [delta(6, [BROKEN]), delta(7, [BROKEN, B])];
  const asked: number[] = [];
  const begin = async (known: number) => {
    asked.push(known);
    return deltas.shift();
  };
  const { serve, served, reports: told } = await start(context, file, { settings, report, begin });
  // What has changed while it loaded the first state is served from the beginning, too.
  assert.deepEqual(asked, [0, 6, 7]);
  assert.deepEqual(
    told?.map(({ id, state }) => `${id} ${state}`),
    ["validatingpolicy-a unavailable", "validatingpolicy-b loaded"],
  );
  assert.deepEqual(await served(), ["own", "own/a", "own/b-c", "!validatingpolicy-a", "validatingpolicy-b"]);
  const lines = reports.flatMap(({ problems }) => problems.map(({ line }) => line));
  assert.deepEqual(lines, [...new Set(lines)]);
  assert.match(lines.at(-1) ?? "", /^ValidatingPolicy a:/);
  assert.deepEqual(states(await serve(delta(8, [A], { base: 7 }))), ["validatingpolicy-a loaded"]);
});

test("a ValidatingAdmissionPolicy judges with its bindings", async (context) => {
  const { serve, served } = await start(context);
  const vap = document({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: { name: "v" },
    spec: {
      matchConstraints: {
        resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }],
      },
      validations: [{ expression: "false" }],
    },
  });
  const binding = document({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name: "b" },
    spec: { policyName: "v", validationActions: ["Deny"] },
  });
  await serve(delta(1, [vap]));
  assert.deepEqual(await served(), []);
  assert.deepEqual(states(await serve(delta(2, [binding], { base: 1 }))), ["validatingadmissionpolicy-v loaded"]);
  assert.deepEqual(await served(), ["validatingadmissionpolicy-v"]);
});
