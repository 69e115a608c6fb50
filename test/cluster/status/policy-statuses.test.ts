import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import type { ClusterState } from "../../../src/cluster/cluster-state.js";
import type { PartContext } from "../../../src/cluster/part.js";
import { PolicyFacts } from "../../../src/cluster/policy-facts.js";
import { loadedVersion } from "../../../src/cluster/replicas/route-hash.js";
import type { ReplicaInfo } from "../../../src/cluster/replicas.js";
import { documentOf } from "../../../src/cluster/sources/document.js";
import { PolicyStatuses } from "../../../src/cluster/status/policy-statuses.js";
import { FakeApiServer, status } from "../../kubernetes/client/fake-api-server.js";
import { connect, until } from "../../kubernetes/client/support.js";
import { TestClock } from "../../support/test-clock.js";
import { keptLog } from "../approver/support.js";
import { keyOfPolicy, NO_METRICS, POLICIES, policy, SETTINGS } from "../support.js";

const KIND = { group: "policies.kubewarden.io", version: "v1", kind: "ClusterAdmissionPolicy" };

/** A part, with as many policies as there are names, all of them loaded. */
async function statusesOf(context: TestContext, names: readonly string[]) {
  const server = await FakeApiServer.start(context);
  const { cluster } = connect(context, server);
  const clock = new TestClock();
  const { logger, lines } = keptLog();
  const facts = new PolicyFacts();
  for (const name of names) server.put(POLICIES, policy(name));
  const documents = new Map(
    names.map((name) => {
      const document = documentOf(policy(name), KIND);
      return [document.key, document] as const;
    }),
  );
  const state: ClusterState = { version: 1, documents, sets: [], unread: [] };
  const loaded = [...documents.values()].map(loadedVersion).join(",");
  let live: readonly ReplicaInfo[] = [{ name: "one", routes: new Set<string>(), facts: { loaded } }];
  let told = (): void => {};
  const part: PartContext = {
    ...{ cluster, clock, log: logger, facts, settings: SETTINGS, random: () => 0 },
    metrics: NO_METRICS,
    replicas: {
      get live() {
        return live;
      },
      changed: (call) => {
        told = call;
        return () => {};
      },
      serverWall: () => 0,
      announce: () => {},
    },
    state: () => state,
    statusOf: (key) => server.object(POLICIES, key.split("/").at(-1) ?? "")?.status,
  };
  const statuses = new PolicyStatuses(part);
  context.after(() => statuses.stop());
  facts.loaded(
    names.map((name) => ({
      ...{ id: `clusterwide-${name}`, key: keyOfPolicy(name), generation: 1, state: "loaded", problems: [] },
    })),
  );
  const leading = new AbortController();
  return {
    ...{ server, clock, lines, facts, statuses, leading },
    replicas: (...replicas: readonly ReplicaInfo[]) => {
      live = replicas;
      told();
    },
    lead: () => statuses.lead(leading.signal),
    /** Serves the same again, but for one document, which has come anew. */
    changed: (name: string) => {
      statuses.served({ ...state, documents: new Map(documents) });
      documents.set(keyOfPolicy(name), documentOf(policy(name), KIND));
      statuses.served({ ...state, documents: new Map(documents) });
    },
    /** Moves the clock step by step until so many patches have come. */
    patched: (count: number) =>
      until(`${count} patches`, () => {
        if (server.patches.length < count) clock.move(100);
        return server.patches.length >= count;
      }),
    policyStatus: (name: string) => (server.object(POLICIES, name)?.status as { policyStatus?: string })?.policyStatus,
  };
}

describe("statuses of policies", () => {
  test("are written by server-side apply, by who leads only, and only where they are others", async (context) => {
    const { server, clock, lead, patched, policyStatus, statuses } = await statusesOf(context, ["a", "b"]);
    clock.move(10_000);
    assert.equal(server.patches.length, 0);
    lead();
    await patched(2);
    await until("the statuses", () => policyStatus("a") === "active" && policyStatus("b") === "active");
    const [patch] = server.patches;
    assert.equal(patch?.type, "application/apply-patch+yaml");
    assert.equal(patch?.query, "?fieldManager=policy-server-status&force=true");
    assert.deepEqual(Object.keys(patch?.body ?? {}), ["apiVersion", "kind", "metadata", "status"]);
    assert.ok(server.asked("PATCH").every((request) => request.includes("/status?")));
    statuses.statusesChanged([keyOfPolicy("a"), keyOfPolicy("b")]);
    clock.move(200_000);
    assert.equal(server.patches.length, 2);
  });

  test("are not written by who leads no more", async (context) => {
    const { server, clock, lead, leading, facts } = await statusesOf(context, ["a"]);
    lead();
    leading.abort();
    facts.setWebhook(keyOfPolicy("a"), "missing");
    clock.move(10_000);
    assert.deepEqual(server.patches, []);
  });

  test("are ten in a second at most", async (context) => {
    const names = Array.from({ length: 30 }, (_, index) => `p${index}`);
    const { server, clock, lead } = await statusesOf(context, names);
    lead();
    clock.move(600);
    for (let tenths = 0; tenths < 20; tenths++) {
      const before = server.patches.length;
      clock.move(100);
      await until("the write", () => server.patches.length > before);
      assert.ok(server.patches.length <= before + 2);
    }
    assert.ok(server.patches.length <= 22);
  });

  test("of what has just changed go before those of a start", async (context) => {
    const names = Array.from({ length: 30 }, (_, index) => `p${index}`);
    const { server, clock, lead, changed } = await statusesOf(context, names);
    lead();
    clock.move(600);
    changed("p29");
    const written = () => server.asked("PATCH").findIndex((request) => request.includes("/p29/"));
    await until("the write", () => {
      clock.move(100);
      return written() >= 0;
    });
    assert.ok(written() < 15, `${written()} others were written before`);
  });

  test("wait for all replicas; one that has not said anything yet counts for nothing", async (context) => {
    const { replicas, lead, patched, policyStatus, server } = await statusesOf(context, ["a"]);
    const version = loadedVersion(documentOf(policy("a"), KIND));
    const one = { name: "one", routes: new Set<string>(), facts: { loaded: version } };
    const two = { name: "two", routes: new Set<string>() };
    replicas(one, { ...two, facts: { loaded: "" } });
    lead();
    await patched(1);
    await until("the status", () => policyStatus("a") === "pending");
    replicas(one, { ...two, facts: {} });
    await patched(2);
    await until("the status", () => policyStatus("a") === "active");
    assert.equal(server.patches.length, 2);
  });

  test("that somebody else writes are written over once a minute at most", async (context) => {
    const { server, clock, lead, patched, policyStatus, statuses } = await statusesOf(context, ["a"]);
    lead();
    await patched(1);
    await until("the status", () => policyStatus("a") === "active");
    const overwrite = () => {
      server.put(POLICIES, policy("a", {}, { status: { policyStatus: "scheduled" } }));
      statuses.statusesChanged([keyOfPolicy("a")]);
    };
    overwrite();
    clock.move(30_000);
    assert.equal(server.patches.length, 1);
    await patched(2);
    assert.ok(clock.now() > 60_000);
  });

  test("that may not be written are tried again later and later, which is said once", async (context) => {
    const { server, clock, lead, lines, patched } = await statusesOf(context, ["a", "b", "c"]);
    let refused = 0;
    server.beforeWrite = (_, response) => {
      refused++;
      status(response, 403, "Forbidden", "policies may not be patched");
    };
    lead();
    await patched(3);
    await until("the answers", () => refused === 3);
    await patched(12);
    assert.equal(lines.filter(({ level }) => level === "error").length, 1);
    assert.ok(clock.now() > 3_000);
    server.beforeWrite = () => {};
    await until("the statuses", () => {
      clock.move(1000);
      return server.objects(POLICIES).every((object) => object.status !== undefined);
    });
  });
});
