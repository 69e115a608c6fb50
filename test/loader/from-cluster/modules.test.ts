/** Policies of a cluster with modules from a registry, all the way. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { type ClusterDocument, ClusterEntryReader } from "../../../src/config/from-cluster/index.js";
import { createPolicyLoader, findCluster, type LoadedClusterPolicies } from "../../../src/loader/index.js";
import { admissionPolicy, byKey, exception, kyvernoPolicy, policyServer } from "../../config/from-cluster/support.js";
import { folder } from "../../fetch/helpers.js";
import { TestRegistry } from "../../fetch/test-registry.js";
import { FakeApiServer } from "../../kubernetes/client/fake-api-server.js";
import { countedThreads } from "../../support/counted-threads.js";
import { context as patience, raw } from "../../wasm/support.js";

const CHAOS = readFileSync(fileURLToPath(new URL("../../../../test/fixtures/chaos/wapc.wasm", import.meta.url)));

/** A loader of a cluster's policies; the registry may be reached because the PolicyServer says so. */
async function start(context: TestContext) {
  const registry = await TestRegistry.start(context);
  registry.pushModule("chaos", "v1", CHAOS);
  const api = await FakeApiServer.start(context);
  const loader = createPolicyLoader({
    policyTimeout: 20_000,
    workers: 1,
    now: () => performance.now(),
    log: () => {},
    violation: () => {},
    fetch: { downloadDirectory: folder(context), environment: { HOME: "/nonexistent" } },
    cluster: findCluster({ kubeconfig: api.kubeconfig(), env: {}, now: () => performance.now() }),
  });
  context.after(() => loader.close());
  let changed = (): void => {};
  let isFirst = true;
  const policies = loader.clusterPolicies(() => changed());
  context.after(() => policies.close());
  const reader = new ClusterEntryReader({
    policyServer: "default",
    namespaced: {},
    exceptionNamespaces: new Set(["*"]),
  });
  const server = policyServer("default", { insecureSources: [registry.host] });
  return {
    registry,
    api,
    module: `registry://${registry.host}/chaos:v1`,
    /** The first load waits for modules as long as this machine takes. */
    load: (...documents: readonly ClusterDocument[]): Promise<LoadedClusterPolicies> => {
      const first = isFirst;
      isFirst = false;
      return policies.load(reader.entries(byKey(server, ...documents)), () => false, first);
    },
    /** Resolves when loading once more would bring others. */
    nextChange: () => new Promise<void>((resolve) => (changed = resolve)),
  };
}

const states = ({ reports }: LoadedClusterPolicies) => reports.map(({ id, state }) => `${id} ${state}`);

test("already the first module is prepared on a thread: it may come while others are served", async (context) => {
  const { load, module } = await start(context);
  const threads = countedThreads(context);
  assert.deepEqual(states(await load(admissionPolicy("p", { module }))), ["clusterwide-p loaded"]);
  assert.equal(threads.started, 1);
});

test("a namespaced policy's guest sees its namespace, another's everything", async (context) => {
  const { load, api, module } = await start(context);
  api.put("pods", { metadata: { name: "a", namespace: "team" } });
  api.put("pods", { metadata: { name: "b", namespace: "other" } });
  const spec = { module, contextAwareResources: [{ apiVersion: "v1", kind: "Pod" }] };
  const { served, reports } = await load(admissionPolicy("p", spec), admissionPolicy("p", spec, "team"));
  assert.deepEqual(
    reports.map(({ state, problems }) => [state, problems]),
    [
      ["loaded", []],
      ["loaded", []],
    ],
  );
  const ask = async (id: string, namespace: string): Promise<string> => {
    const payload = JSON.stringify({ api_version: "v1", kind: "Pod", namespace });
    const mode = `host:kubewarden:kubernetes:list_resources_by_namespace:${payload}`;
    const outcome = await served.find((each) => each.id === id)?.policy.evaluate(raw({ mode }), patience());
    assert.ok(outcome?.verdict === "deny", JSON.stringify(outcome));
    return outcome.message ?? "";
  };
  assert.match(await ask("clusterwide-p", "other"), /^\+.*"name":"b"/);
  assert.match(await ask("namespaced-team-p", "team"), /^\+.*"name":"a"/);
  assert.match(await ask("namespaced-team-p", "other"), /^-the policy is confined to the namespace "team"/);
});

test("a namespaced policy of Kyverno judges the objects in its namespace, and no others", async (context) => {
  const { load } = await start(context);
  const [policy] = (await load(kyvernoPolicy("k", "false", "team"))).served;
  const ask = async (namespace: string | undefined) => {
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "p", ...(namespace && { namespace }) } };
    const kind = { group: "", version: "v1", kind: "Pod" };
    const resource = { group: "", version: "v1", resource: "pods" };
    const about = { uid: "u", kind, resource, operation: "CREATE", userInfo: {}, object: pod };
    const request = { ...about, ...(namespace && { namespace }) };
    const review = { kind: "admission", request, requestBytes: () => new Uint8Array() } as const;
    return (await policy?.policy.evaluate(review, patience()))?.verdict;
  };
  assert.deepEqual([await ask("team"), await ask("other"), await ask(undefined)], ["deny", "skip", "skip"]);
});

test("a module that comes late is served when it has come; what it is fetched for holds up nothing else", async (context) => {
  const { load, registry, nextChange } = await start(context);
  let waiting: ServerResponse | undefined;
  registry.special.set("/late.wasm", (_, response) => {
    waiting = response;
  });
  const late = admissionPolicy("late", { module: `http://${registry.host}/late.wasm` });
  (await load()).taken();
  const first = await load(late, kyvernoPolicy("k", "true"));
  first.taken();
  assert.deepEqual(states(first), ["clusterwide-late waiting", "validatingpolicy-k loaded"]);
  const change = nextChange();
  while (waiting === undefined) await new Promise((resolve) => setTimeout(resolve, 10));
  waiting.end(CHAOS);
  await change;
  assert.deepEqual(states(await load(late, kyvernoPolicy("k", "true"))), ["clusterwide-late loaded"]);
});

test("what is unchanged is neither fetched nor compiled again", async (context) => {
  const { load, registry, module } = await start(context);
  const policy = admissionPolicy("p", { module });
  const first = await load(policy, kyvernoPolicy("k", "true"));
  const asked = registry.requests.length;
  const second = await load(policy, kyvernoPolicy("k", "true"), kyvernoPolicy("l", "true"));
  assert.equal(registry.requests.length, asked);
  const before = new Map(first.served.map((each) => [each.id, each.policy]));
  assert.deepEqual(
    second.served.map(({ id, policy: each }) => before.get(id) === each),
    [true, true, false],
  );
});

test("mistakes are told at their places, and a broken exception keeps nothing from acting", async (context) => {
  const { load } = await start(context);
  const broken = kyvernoPolicy("k", "nope");
  const line = broken.text.split("\n").findIndex((each) => each.includes('"nope"')) + 1;
  const { reports } = await load(broken);
  const [{ text } = { text: "" }] = reports[0]?.problems ?? [];
  assert.match(text, new RegExp(`^spec\\.validations\\[0\\]\\.expression \\(line ${line}, column \\d+\\): `));
  const excepted = await load(
    kyvernoPolicy("k", "true"),
    exception("e", "k", { matchConditions: [{ name: "m", expression: "nope" }] }),
  );
  assert.deepEqual(states(excepted), ["validatingpolicy-k loaded"]);
  assert.match(
    excepted.reports[0]?.problems.map(({ severity, text: said }) => `${severity} ${said}`).join() ?? "",
    /^warning PolicyException team\/e: spec\.matchConditions/,
  );
});
