import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { type ClusterDocument, ClusterEntryReader } from "../../../src/config/from-cluster/index.js";
import type { Config } from "../../../src/config/index.js";
import type { ModuleFetcher } from "../../../src/fetch/index.js";
import { createUnavailablePolicy } from "../../../src/kinds/unavailable-policy.js";
import { ClusterPolicies } from "../../../src/loader/from-cluster/cluster-policies.js";
import { RolledOutPolicies } from "../../../src/loader/from-cluster/rolled-out-policies.js";
import type { LoadedConfig } from "../../../src/loader/loader.js";
import { createPolicySet, type ServedPolicy } from "../../../src/policy/served/policy-set.js";
import { noted, PREFIX, policyDocument } from "../../config/from-cluster/rollout-document.js";
import { TestClock } from "../../support/test-clock.js";

const SHADOW = { rollout: "shadow" };
const ID = "validatingpolicy-p";

/** A cluster's policies whose entries are what their specs say: `broken…` can't be loaded. */
class Bench {
  /** Words of what was loaded, in order. */
  readonly loads: string[] = [];
  opened = 0;
  readonly policies: RolledOutPolicies;

  constructor(context: TestContext) {
    const reader = new ClusterEntryReader({
      policyServer: "default",
      namespaced: {},
      exceptionNamespaces: new Set(["*"]),
    });
    this.policies = new RolledOutPolicies(reader, () => this.#open());
    context.after(() => this.policies.close());
  }

  #open(): ClusterPolicies {
    this.opened += 1;
    const fetcher: Pick<ModuleFetcher, "file" | "close"> = { file: () => assert.fail(), close: async () => {} };
    return new ClusterPolicies({
      clock: new TestClock(),
      fetcher: () => fetcher as ModuleFetcher,
      load: async (config) => this.#load(config),
      changed: () => {},
    });
  }

  #load({ entries }: Config): LoadedConfig {
    const [entry] = entries;
    assert.ok(entry?.kind === "resource");
    const spec = JSON.stringify(entry.documents[0]?.value);
    const word = /"word":"([^"]*)"/.exec(spec)?.[1] ?? assert.fail(spec);
    this.loads.push(word);
    const isBroken = word.startsWith("broken");
    const message = `${word} it is`;
    const problem = {
      severity: "error",
      file: "ValidatingPolicy p",
      line: 3,
      column: 5,
      path: ["spec"],
      message,
    } as const;
    return {
      policies: createPolicySet([
        {
          id: entry.id,
          policy: createUnavailablePolicy(entry.id, word),
          mode: "protect",
          allowedToMutate: false,
          ...(isBroken && { unavailable: word }),
        },
      ]),
      problems: isBroken ? [problem] : [],
      clusterNeeded: [],
      neverDenying: [],
      unfetched: false,
    };
  }

  async load(...documents: readonly ClusterDocument[]) {
    const loaded = await this.policies.load(new Map(documents.map((each) => [each.key, each])), () => false);
    loaded.taken();
    const served = loaded.served.find(({ id }) => id === ID);
    return { ...loaded, entry: served, told: loaded.reports.find(({ id }) => id === ID) };
  }
}

/** The word of a version. */
const wordOf = (entry: ServedPolicy | undefined): string | undefined =>
  entry && ("reason" in entry.policy ? String(entry.policy.reason) : entry.policy.implementation);

const versions = (entry: ServedPolicy | undefined) => [wordOf(entry), wordOf(entry?.shadow?.entry)];

describe("a cluster's policies that are rolled out", () => {
  const one = policyDocument({ generation: 1, word: "one" });
  const two = (annotations: Readonly<Record<string, string>> = {}) =>
    policyDocument({
      generation: 2,
      word: "two",
      annotations: { ...SHADOW, "active-spec": noted(1, "one"), ...annotations },
    });

  test("have the new version in the shadow of the one in force", async (context) => {
    const bench = new Bench(context);
    assert.deepEqual(versions((await bench.load(one)).entry), ["one", undefined]);
    assert.equal(bench.opened, 1, "nothing more is opened where nothing is rolled out");
    const { entry, told } = await bench.load(two({ "enforced-namespaces": "dev" }));
    assert.deepEqual(versions(entry), ["one", "two"]);
    assert.equal(entry?.shadow?.version, "2.1.01234567");
    assert.deepEqual([...(entry?.shadow?.enforcedNamespaces ?? [])], ["dev"]);
    assert.deepEqual([told?.generation, told?.state, told?.problems], [2, "loaded", []]);
  });

  test("load nothing anew for what the leader notes", async (context) => {
    const bench = new Bench(context);
    await bench.load(two({ "shadow-record": "{}" }));
    const before = bench.loads.length;
    const { entry } = await bench.load(two({ "shadow-record": '{"denied":1}' }));
    assert.equal(bench.loads.length, before);
    assert.deepEqual(versions(entry), ["one", "two"]);
  });

  test("have what was promoted in force, and no shadow", async (context) => {
    const bench = new Bench(context);
    await bench.load(two());
    const { entry, told } = await bench.load(two({ "active-spec": noted(2, "two") }));
    assert.deepEqual(versions(entry), ["two", undefined]);
    assert.deepEqual([told?.generation, told?.state], [2, "loaded"]);
  });

  test("let everything pass while no version is in force, and are told all the same", async (context) => {
    const { entry, told } = await new Bench(context).load(
      policyDocument({ generation: 1, word: "one", annotations: SHADOW }),
    );
    assert.deepEqual(versions(entry), ["shadow", "one"]);
    assert.equal(entry?.shadow?.isAlone, true);
    assert.deepEqual([told?.generation, told?.state], [1, "loaded"]);
  });

  test("keep the version in force beside a broken one, and tell what is wrong with that", async (context) => {
    const annotations = { ...SHADOW, "active-spec": noted(1, "one") };
    const { entry, told, reports } = await new Bench(context).load(
      policyDocument({ generation: 2, word: "broken", annotations }),
    );
    assert.equal(wordOf(entry), "one");
    assert.equal(entry?.shadow?.entry.unavailable, "broken");
    assert.equal(told?.state, "last-good");
    assert.equal(reports.length, 1);
    assert.match(told?.problems[0]?.text ?? "", /^in shadow: spec \(line 3, column 5\): broken it is/);
  });

  test("tell mistakes in their annotations with their places", async (context) => {
    const document = two({ "promote-after": "soon" });
    const { problems, told, entry } = await new Bench(context).load(document);
    assert.deepEqual(versions(entry), ["one", "two"]);
    const [problem] = problems;
    const line = document.text.split("\n")[(problem?.line ?? 0) - 1] ?? "";
    assert.ok(line.slice((problem?.column ?? 0) - 1).startsWith(`"${PREFIX}promote-after"`), line);
    assert.match(
      told?.problems[0]?.text ?? "",
      /^metadata\.annotations\[.*promote-after.*\] \(line \d+, column 13\): "soon" is not/,
    );
  });

  test("that are gone are answered for, as they were", async (context) => {
    const bench = new Bench(context);
    await bench.load(policyDocument({ generation: 1, word: "one", annotations: SHADOW }));
    const { entry } = await bench.load();
    assert.equal(wordOf(entry), "shadow");
  });
});
