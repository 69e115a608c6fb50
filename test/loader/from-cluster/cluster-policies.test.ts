import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { type ClusterDocument, type ClusterEntry, ClusterEntryReader } from "../../../src/config/from-cluster/index.js";
import type { Config } from "../../../src/config/index.js";
import type { ModuleFetcher } from "../../../src/fetch/index.js";
import { createUnavailablePolicy } from "../../../src/kinds/unavailable-policy.js";
import {
  ClusterPolicies,
  type LoadedClusterPolicies,
  RETIRED_MS,
} from "../../../src/loader/from-cluster/cluster-policies.js";
import type { LoadedConfig } from "../../../src/loader/loader.js";
import type { Review } from "../../../src/policy/index.js";
import { createPolicySet } from "../../../src/policy/served/policy-set.js";
import { admissionPolicy, byKey, kyvernoPolicy, policyServer } from "../../config/from-cluster/support.js";
import { TestClock } from "../../support/test-clock.js";
import { context as evaluationContext } from "../../wasm/support.js";

/** What becomes of an entry when it is loaded. */
type Fate = "good" | "broken" | "unfetched" | "defect";

/** A cluster's policies whose entries are loaded as a test says. */
class Bench {
  readonly clock = new TestClock();
  /** The ids that were loaded, in order. */
  readonly loads: string[] = [];
  readonly fates = new Map<string, Fate | Promise<Fate>>();
  changes = 0;
  taken = new Set<string>();
  readonly #reader = new ClusterEntryReader({
    policyServer: "default",
    namespaced: {},
    exceptionNamespaces: new Set(["*"]),
  });
  readonly #policies: ClusterPolicies;

  constructor(context: TestContext) {
    const fetcher: Pick<ModuleFetcher, "file" | "close"> = { file: () => assert.fail(), close: async () => {} };
    this.#policies = new ClusterPolicies({
      clock: this.clock,
      fetcher: () => fetcher as ModuleFetcher,
      load: (config) => this.#load(config),
      changed: () => {
        this.changes += 1;
      },
    });
    context.after(() => this.#policies.close());
  }

  async #load({ entries }: Config): Promise<LoadedConfig> {
    const [entry] = entries;
    assert.ok(entry);
    this.loads.push(entry.id);
    const fate = await (entry.kind === "invalid" ? "broken" : (this.fates.get(entry.id) ?? "good"));
    if (fate === "defect") throw new Error("EMFILE: too many open files, open '/srv/x'");
    const policy = createUnavailablePolicy(entry.id, fate);
    const served = { id: entry.id, policy, mode: "protect", allowedToMutate: false } as const;
    const message = `it is ${fate}`;
    const problem = {
      severity: "error",
      file: "ClusterAdmissionPolicy a",
      line: 3,
      column: 5,
      path: ["spec"],
      message,
    } as const;
    return {
      policies: createPolicySet([fate === "good" ? served : { ...served, unavailable: fate }]),
      problems: fate === "good" ? [] : [problem],
      clusterNeeded: [],
      neverDenying: [],
      unfetched: fate === "unfetched",
    };
  }

  async load(...documents: readonly ClusterDocument[]): Promise<LoadedClusterPolicies> {
    return this.#policies.load(this.#reader.entries(byKey(...documents)), (id) => this.taken.has(id));
  }

  /** Loads entries that a test has changed. */
  async loadEntries(
    documents: readonly ClusterDocument[],
    change: (entry: ClusterEntry) => ClusterEntry,
  ): Promise<LoadedClusterPolicies> {
    const all = this.#reader.entries(byKey(...documents));
    return this.#policies.load({ ...all, entries: all.entries.map(change) }, () => false);
  }

  /** As {@link load}, when all of it is served. */
  async serve(...documents: readonly ClusterDocument[]): Promise<LoadedClusterPolicies> {
    const loaded = await this.load(...documents);
    loaded.taken();
    return loaded;
  }

  /** Loads, and lets the time pass for which others are waited for. */
  async impatiently(...documents: readonly ClusterDocument[]): Promise<LoadedClusterPolicies> {
    const loading = this.load(...documents);
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    this.clock.move(500);
    return loading;
  }
}

/** What becomes of an entry when it is told to come. */
function later(fate: Fate) {
  let come = (): void => assert.fail();
  const late = new Promise<Fate>((resolve) => {
    come = () => resolve(fate);
  });
  return { late, come: () => come() };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));
const states = ({ reports }: LoadedClusterPolicies) => reports.map(({ id, state }) => `${id} ${state}`);
const shown = ({ served }: LoadedClusterPolicies) =>
  served.map(({ id, unavailable, outdated }) =>
    [id, unavailable ?? "", outdated === undefined ? "" : "outdated"].join(" ").trim(),
  );
const a = (settings: object = {}, metadata: object = {}) => admissionPolicy("a", { settings }, undefined, metadata);
const b = admissionPolicy("b");

describe("of a cluster's policies", () => {
  test("only what has changed is loaded, and the others stay the same objects", async (context) => {
    const bench = new Bench(context);
    const many = Array.from({ length: 1000 }, (_, index) => kyvernoPolicy(`p${index}`, "true"));
    const first = await bench.serve(...many, a());
    assert.equal(bench.loads.length, 1001);
    assert.equal(first.reports.length, 1001);
    bench.loads.length = 0;
    const second = await bench.serve(...many, a({ n: 1 }));
    assert.deepEqual(bench.loads, ["clusterwide-a"]);
    assert.deepEqual(states(second), ["clusterwide-a loaded"]);
    const before = new Map(first.served.map((each) => [each.id, each]));
    assert.equal(second.served.filter((each) => before.get(each.id) === each).length, 1000);
  });

  test("one with a newer version that is broken keeps the one before it, which says why", async (context) => {
    const bench = new Bench(context);
    const [good] = (await bench.serve(a(), b)).served;
    bench.fates.set("clusterwide-a", "broken");
    const loaded = await bench.serve(a({ n: 1 }, { generation: 2 }), b);
    assert.deepEqual(loaded.reports, [
      {
        id: "clusterwide-a",
        key: a().key,
        generation: 2,
        state: "last-good",
        problems: [{ severity: "error", text: "spec (line 3, column 5): it is broken" }],
      },
    ]);
    const [kept] = loaded.served;
    assert.equal(kept?.policy, good?.policy);
    assert.equal(kept?.outdated, "an earlier version: generation 2 is not served, since it is broken");
    bench.fates.set("clusterwide-a", "good");
    assert.deepEqual(shown(await bench.serve(a({ n: 2 }), b)), ["clusterwide-a", "clusterwide-b"]);
  });

  test("one that never was good denies, and the others are served", async (context) => {
    const bench = new Bench(context);
    bench.fates.set("clusterwide-a", "broken");
    const loaded = await bench.serve(a(), b);
    assert.deepEqual(states(loaded), ["clusterwide-a unavailable", "clusterwide-b loaded"]);
    assert.deepEqual(shown(loaded), ["clusterwide-a broken", "clusterwide-b"]);
  });

  test("one that was good under other terms does not stay when it is not good under these", async (context) => {
    const bench = new Bench(context);
    await bench.serve(a());
    bench.fates.set("clusterwide-a", "unfetched");
    const loaded = await bench.serve(a(), policyServer("default", { insecureSources: ["h"] }));
    assert.deepEqual(states(loaded), ["clusterwide-a unavailable"]);
  });

  test("one whose namespace is left out denies, whatever was served before, until it is back", async (context) => {
    const bench = new Bench(context);
    const of = (more: object = {}) => ({ ...admissionPolicy("p", {}, "heavy"), ...more });
    assert.deepEqual(states(await bench.serve(of(), b)), ["namespaced-heavy-p loaded", "clusterwide-b loaded"].sort());
    const loaded = await bench.serve(of({ leftOut: "heavy has too much", text: "{}" }), b);
    assert.deepEqual(states(loaded), ["namespaced-heavy-p unavailable"]);
    assert.deepEqual(shown(loaded), ["clusterwide-b", "namespaced-heavy-p broken"]);
    const back = await bench.serve(of(), b);
    assert.deepEqual(states(back), ["namespaced-heavy-p loaded"]);
  });

  test("one whose module takes long holds up no other, and is served when it has come", async (context) => {
    const bench = new Bench(context);
    const { late, come } = later("good");
    bench.fates.set("clusterwide-a", late);
    const first = await bench.impatiently(a(), b);
    first.taken();
    assert.deepEqual(shown(first), ["clusterwide-a its module is still being fetched", "clusterwide-b"]);
    assert.deepEqual(states(first), ["clusterwide-a waiting", "clusterwide-b loaded"]);
    assert.deepEqual(shown(await bench.serve(a(), b, admissionPolicy("c"))).slice(1), [
      "clusterwide-b",
      "clusterwide-c",
    ]);
    assert.equal(bench.changes, 0);
    come();
    await settled();
    assert.equal(bench.changes, 1);
    const last = await bench.serve(a(), b);
    assert.deepEqual(states(last), ["clusterwide-a loaded"]);
    assert.deepEqual(bench.loads, ["clusterwide-a", "clusterwide-b", "clusterwide-c"]);
  });

  test("one without a module is waited for, however long it takes: nothing answers in its place", async (context) => {
    const bench = new Bench(context);
    const { late, come } = later("good");
    bench.fates.set("validatingpolicy-p", late);
    let loaded: LoadedClusterPolicies | undefined;
    void bench.impatiently(kyvernoPolicy("p", "true"), a()).then((found) => {
      loaded = found;
    });
    for (let times = 0; times < 20; times++) {
      bench.clock.move(10_000);
      await settled();
    }
    assert.equal(loaded, undefined);
    come();
    await settled();
    await settled();
    assert.deepEqual(loaded && states(loaded), ["clusterwide-a loaded", "validatingpolicy-p loaded"]);
  });

  test("one whose loading fails in some other way denies, is tried again, and holds up no other", async (context) => {
    const bench = new Bench(context);
    bench.fates.set("validatingpolicy-p", "defect");
    bench.fates.set("clusterwide-a", "defect");
    const p = kyvernoPolicy("p", "true");
    const loaded = await bench.serve(a(), b, p);
    assert.deepEqual(states(loaded), [
      "clusterwide-a unavailable",
      "clusterwide-b loaded",
      "validatingpolicy-p unavailable",
    ]);
    const shownToClients = loaded.served.map(({ unavailable }) => unavailable ?? "").join();
    assert.doesNotMatch(shownToClients, /EMFILE/);
    assert.match(loaded.problems.map(({ message }) => message).join(), /EMFILE/);
    bench.fates.clear();
    bench.clock.move(5000);
    await settled();
    assert.equal(bench.changes, 2);
    assert.deepEqual(states(await bench.serve(a(), b, p)), ["clusterwide-a loaded", "validatingpolicy-p loaded"]);
  });

  test("one that breaks whoever reads it denies, and holds up no other", async (context) => {
    const bench = new Bench(context);
    const loaded = await bench.loadEntries([a(), b], (entry) =>
      entry.id === "clusterwide-b"
        ? entry
        : {
            ...entry,
            read: () => {
              throw new RangeError("Maximum call stack size exceeded");
            },
          },
    );
    assert.deepEqual(states(loaded), ["clusterwide-a unavailable", "clusterwide-b loaded"]);
  });

  test("one of a namespace that can't be read denies there only", async (context) => {
    const bench = new Bench(context);
    const broken = admissionPolicy("a", { policyMode: "protect", module: 3 }, "team");
    const [served] = (await bench.serve(broken)).served;
    const request = {
      uid: "u",
      kind: { group: "", version: "v1", kind: "Pod" },
      resource: { group: "", version: "v1", resource: "pods" },
      operation: "CREATE",
      userInfo: {},
    };
    const ask = async (namespace: string) => {
      const review: Review = {
        kind: "admission",
        request: { ...request, namespace },
        requestBytes: () => new Uint8Array(),
      };
      return (await served?.policy.evaluate(review, evaluationContext()))?.verdict;
    };
    assert.deepEqual([await ask("team"), await ask("other")], ["error", "skip"]);
  });

  test("one whose id the policies file takes while its module is fetched is not fetched again", async (context) => {
    const bench = new Bench(context);
    const { late, come } = later("unfetched");
    bench.fates.set("clusterwide-a", late);
    await bench.impatiently(a());
    bench.taken.add("clusterwide-a");
    await bench.serve(a());
    come();
    await settled();
    bench.clock.move(1_000_000);
    await settled();
    assert.deepEqual(bench.loads, ["clusterwide-a"]);
    assert.equal(bench.changes, 0);
  });

  test("one whose newer version takes long stays as it was meanwhile", async (context) => {
    const bench = new Bench(context);
    await bench.serve(a());
    const { late, come } = later("broken");
    bench.fates.set("clusterwide-a", late);
    const loaded = await bench.impatiently(a({ n: 1 }));
    assert.deepEqual([shown(loaded), states(loaded)], [["clusterwide-a  outdated"], ["clusterwide-a last-good"]]);
    // What comes of a version that nobody wants any more counts for nothing.
    bench.fates.set("clusterwide-a", "good");
    assert.deepEqual(states(await bench.serve(a({ n: 2 }))), ["clusterwide-a loaded"]);
    come();
    await settled();
    assert.deepEqual(shown(await bench.serve(a({ n: 2 }))), ["clusterwide-a"]);
  });

  test("one whose module can't be fetched is tried again, after longer and longer", async (context) => {
    const bench = new Bench(context);
    bench.fates.set("clusterwide-a", "unfetched");
    await bench.serve(a());
    const tries: number[] = [];
    for (let second = 0; second < 800; second += 5) {
      const before = bench.loads.length;
      bench.clock.move(5000);
      await settled();
      if (bench.loads.length > before) tries.push(second + 5);
    }
    assert.deepEqual(tries, [5, 15, 35, 75, 155, 315, 615]);
    assert.equal(bench.changes, 0);
    bench.fates.set("clusterwide-a", "good");
    bench.clock.move(300_000);
    await settled();
    assert.equal(bench.changes, 1);
    assert.deepEqual(states(await bench.serve(a())), ["clusterwide-a loaded"]);
    bench.clock.move(1_000_000);
    await settled();
    assert.equal(bench.loads.length, 9);
  });

  test("one that is gone is answered for a minute", async (context) => {
    const bench = new Bench(context);
    await bench.serve(a(), b);
    assert.deepEqual(shown(await bench.serve(b)), ["clusterwide-b", "clusterwide-a  outdated"]);
    bench.clock.move(RETIRED_MS - 1);
    assert.deepEqual(shown(await bench.serve(b)), ["clusterwide-b", "clusterwide-a  outdated"]);
    assert.equal(bench.changes, 0);
    bench.clock.move(1);
    assert.equal(bench.changes, 1);
    assert.deepEqual(shown(await bench.serve(b)), ["clusterwide-b"]);
    await bench.serve(a(), b);
    assert.equal(bench.loads.filter((id) => id === "clusterwide-a").length, 2);
  });

  test("one that comes back within that minute is the same", async (context) => {
    const bench = new Bench(context);
    await bench.serve(a());
    await bench.serve();
    assert.deepEqual(shown(await bench.serve(a())), ["clusterwide-a"]);
    assert.deepEqual(bench.loads, ["clusterwide-a"]);
    bench.clock.move(RETIRED_MS);
    assert.deepEqual(shown(await bench.serve(a())), ["clusterwide-a"]);
  });

  test("one whose id the policies file has is not served, and says so once", async (context) => {
    const bench = new Bench(context);
    bench.taken.add("clusterwide-a");
    const loaded = await bench.serve(a(), b);
    assert.deepEqual(shown(loaded), ["clusterwide-b"]);
    assert.ok(states(loaded).includes("clusterwide-a refused"));
    const text = 'not served: the policies file has a policy of its id "clusterwide-a"';
    assert.deepEqual(loaded.reports.find(({ id }) => id === "clusterwide-a")?.problems, [{ severity: "error", text }]);
    assert.deepEqual(states(await bench.serve(a(), b)), []);
  });

  test("reports are told until they are taken", async (context) => {
    const bench = new Bench(context);
    await bench.load(a());
    assert.deepEqual(states(await bench.serve(a())), ["clusterwide-a loaded"]);
    assert.deepEqual(states(await bench.serve(a())), []);
    assert.deepEqual(
      (await bench.serve(a({}, { generation: 7 }))).reports.map(({ generation }) => generation),
      [7],
    );
    assert.deepEqual(bench.loads, ["clusterwide-a"]);
  });
});
