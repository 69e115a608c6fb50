/** Policies of a cluster with modules from a registry, all the way. */
import assert from "node:assert/strict";
import { readFileSync, statSync, utimesSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import {
  type ClusterDocument,
  type ClusterEntries,
  type ClusterEntryOptions,
  ClusterEntryReader,
} from "../../../src/config/from-cluster/index.js";
import { IN_USE_MS } from "../../../src/fetch/limits.js";
import { createLoader, type LoadedClusterPolicies } from "../../../src/loader/index.js";
import { admissionPolicy, byKey, exception, kyvernoPolicy, policyServer } from "../../config/from-cluster/support.js";
import { folder } from "../../fetch/helpers.js";
import { TestRegistry } from "../../fetch/test-registry.js";
import { FakeApiServer } from "../../kubernetes/client/fake-api-server.js";
import { countedThreads } from "../../support/counted-threads.js";
import { context as patience, raw } from "../../wasm/support.js";

const CHAOS = readFileSync(fileURLToPath(new URL("../../../../test/fixtures/chaos/wapc.wasm", import.meta.url)));

/** What differs from test to test. */
interface Setting {
  readonly namespaced?: ClusterEntryOptions["namespaced"];
  readonly insecure?: boolean;
  readonly downloadDirectory?: string;
}

// The engine's own collector, whenever a test says so.
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** A loader of a cluster's policies; the registry may be reached because the PolicyServer says so, unless `insecure` says otherwise. */
async function start(context: TestContext, setting: Setting = {}) {
  const { namespaced = {}, insecure = true, downloadDirectory = folder(context) } = setting;
  const registry = await TestRegistry.start(context);
  registry.pushModule("chaos", "v1", CHAOS);
  const api = await FakeApiServer.start(context);
  const environment = { HOME: "/nonexistent" };
  const settings = { downloadDirectory, environment, kubeconfig: api.kubeconfig() };
  const loader = createLoader({ ...settings, policyTimeout: 60_000, workers: 1 });
  context.after(() => loader.close());
  let changed = (): void => {};
  let isFirst = true;
  const policies = loader.clusterPolicies(() => changed());
  context.after(() => policies.close());
  const reader = new ClusterEntryReader({ policyServer: "default", namespaced, exceptionNamespaces: new Set(["*"]) });
  const server = policyServer("default", { insecureSources: insecure ? [registry.host] : [] });
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
    /** Waits for modules each time. */
    loadAll: (entries: ClusterEntries): Promise<LoadedClusterPolicies> => policies.load(entries, () => false, true),
    /** Resolves when loading once more would bring others. */
    nextChange: () => new Promise<void>((resolve) => (changed = resolve)),
  };
}

/** A file that a registry's host serves beside its images. */
const serve = (registry: TestRegistry, path: string, body: Uint8Array | string): void => {
  registry.special.set(path, (_, response) => response.end(body));
};
const problemsOf = ({ reports }: LoadedClusterPolicies): string =>
  reports.flatMap(({ problems }) => problems.map(({ text }) => text)).join("\n");

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

test("a module of the cluster's policies is not asked for at blocked addresses", async (context) => {
  const { load, registry } = await start(context, { insecure: false });
  serve(registry, "/x.wasm", CHAOS);
  const [, port] = registry.host.split(":");
  const module = `http://127.0.0.1:${port}/x.wasm`;
  const loaded = await load(admissionPolicy("p", { module }), admissionPolicy("p", { module }, "team"));
  assert.deepEqual(states(loaded), ["clusterwide-p unavailable", "namespaced-team-p unavailable"]);
  assert.match(problemsOf(loaded), /IP 127\.0\.0\.1 falls in blocked range 127\.0\.0\.0\/8/);
  for (const { unavailable = "" } of loaded.served) assert.doesNotMatch(unavailable, /127\.0\.0\.1/);
  assert.deepEqual(registry.requests, []);
});

test("a namespaced policy's module is no larger than the limit; a cluster-wide one's may be", async (context) => {
  const { load, registry } = await start(context, { namespaced: { moduleMiB: 1 } });
  // A custom section that nobody reads.
  const fill = Buffer.alloc(1024 * 1024 + 7);
  fill.set([0, 0x83, 0x80, 0x40, 1, 0x78]);
  serve(registry, "/x.wasm", Buffer.concat([CHAOS, fill]));
  const module = `http://${registry.host}/x.wasm`;
  const loaded = await load(admissionPolicy("p", { module }), admissionPolicy("q", { module }, "team"));
  assert.deepEqual(states(loaded), ["clusterwide-p loaded", "namespaced-team-q unavailable"]);
  assert.match(problemsOf(loaded), /more than 1048576|larger than 1048576/);
});

test("a namespace has no more modules in use than two of the largest size; others are tried again", async (context) => {
  const { load, registry } = await start(context, { namespaced: { moduleMiB: 1 } });
  const policies = ["a", "b", "c"].map((name, index) => {
    // A custom section that no reader wants makes each another module of 0.9 MiB.
    const fill = Buffer.alloc(900_000);
    fill.set([0, 0x9c, 0xf7, 0x36, 1, 0x61 + index]);
    serve(registry, `/${name}.wasm`, Buffer.concat([CHAOS, fill]));
    return admissionPolicy(name, { module: `http://${registry.host}/${name}.wasm` }, "team");
  });
  const loaded = await load(...policies);
  assert.deepEqual(
    states(loaded)
      .map((state) => state.split(" ")[1])
      .sort(),
    ["loaded", "loaded", "unavailable"],
  );
  assert.match(problemsOf(loaded), /the modules of namespace team would have \d+ bytes together, more than 2097152/);
  const [unavailable] = loaded.served.flatMap(({ unavailable: why }) => (why === undefined ? [] : [why]));
  assert.match(unavailable ?? "", /its namespace has too many modules/);
});

test("what the manifest of a namespaced policy names is held to places, size and bounds of its own", async (context) => {
  const other = await TestRegistry.start(context);
  other.pushModule("evil", "v1", CHAOS);
  const stage = await start(context);
  const { registry } = stage;
  const places = [`http://${registry.host}/plugins`];
  const plugin = readFileSync(fileURLToPath(new URL("../../../../test/fixtures/trivial/extism.wasm", import.meta.url)));
  serve(registry, "/plugins/main.wasm", plugin);
  serve(registry, "/elsewhere/main.wasm", plugin);
  const limited = new ClusterEntryReader({
    policyServer: "default",
    namespaced: { places, moduleMiB: 1 },
    exceptionNamespaces: new Set(["*"]),
  });
  const server = policyServer("default", { insecureSources: [registry.host, other.host] });
  const ask = async (name: string, manifest: object | string, namespace?: string) => {
    const text = typeof manifest === "string" ? manifest : JSON.stringify(manifest);
    serve(registry, `/plugins/${name}.json`, text);
    const policy = admissionPolicy(name, { module: `http://${registry.host}/plugins/${name}.json` }, namespace);
    return stage.loadAll(limited.entries(byKey(server, policy)));
  };
  const url = (path: string) => ({ wasm: [{ url: `http://${registry.host}${path}` }] });
  assert.deepEqual(states(await ask("good", url("/plugins/main.wasm"), "team")), ["namespaced-team-good loaded"]);
  for (const [name, manifest, what] of [
    ["path", url("/elsewhere/main.wasm"), /is not below a place/],
    ["host", { wasm: [{ url: `http://${other.host}/plugins/main.wasm` }] }, /is not below a place/],
    ["image", { wasm: [{ url: `registry://${other.host}/evil:v1` }] }, /is not below a place/],
    [
      "long",
      JSON.stringify({ ...url("/plugins/main.wasm"), config: { a: "x".repeat(256 * 1024) } }),
      /at most 262144 bytes/,
    ],
    ["wide", `{"wasm":[${"[],".repeat(1_000)}1]}`, /and 1000 values/],
    ["wide-yaml", `{"wasm":['"'${", 1".repeat(1_000)}]}`, /and 1000 values/],
  ] as const) {
    const loaded = await ask(name, manifest, "team");
    assert.deepEqual(states(loaded), [`namespaced-team-${name} unavailable`]);
    assert.match(problemsOf(loaded), what, name);
  }
  assert.deepEqual(other.requests, []);
  assert.deepEqual(states(await ask("whole", url("/elsewhere/main.wasm"))), ["clusterwide-whole loaded"]);
  const part = Buffer.concat([plugin, Buffer.from([0, 0x81, 0x80, 0x28, 0]), Buffer.alloc(0xa0000)]);
  for (const at of ["a", "b"]) serve(registry, `/plugins/${at}.wasm`, part);
  const both = { wasm: [{ name: "x", ...url("/plugins/a.wasm").wasm[0] }, ...url("/plugins/b.wasm").wasm] };
  const together = await ask("both", both, "team");
  assert.match(problemsOf(together), /have \d+ bytes together, more than 1048576/);
});

test("the file of a module counts as used as long as its policy is there", async (context) => {
  context.mock.timers.enable({ apis: ["setInterval"] });
  const downloadDirectory = folder(context);
  const { load, module, registry } = await start(context, { downloadDirectory });
  const path = join(downloadDirectory, "registry", registry.host, "chaos:v1");
  const isUsed = async (): Promise<boolean> => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    utimesSync(path, 0, 0);
    context.mock.timers.tick(IN_USE_MS / 2);
    for (let i = 0; i < 20 && statSync(path).mtimeMs === 0; i++)
      await new Promise((resolve) => setTimeout(resolve, 20));
    return statSync(path).mtimeMs > 0;
  };
  const collected = async (tries = 50): Promise<boolean> => {
    for (let i = 0; i < tries; i++) {
      collect();
      if (!(await isUsed())) return true;
    }
    return false;
  };
  let served: unknown = (await load(admissionPolicy("p", { module }))).served;
  assert.equal(await isUsed(), true);
  assert.equal(await collected(5), false);
  assert.ok(served !== undefined);
  // Another version takes its place.
  served = undefined;
  registry.pushModule("chaos", "v2", CHAOS);
  await load(admissionPolicy("p", { module: module.replace("v1", "v2") }));
  assert.equal(await collected(), true);
});
