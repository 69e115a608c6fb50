import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClusterState } from "../../../src/cluster/cluster-state.js";
import { PolicyFacts } from "../../../src/cluster/policy-facts.js";
import { policyRoute } from "../../../src/cluster/replicas/route-hash.js";
import type { ReplicaInfo } from "../../../src/cluster/replicas.js";
import { deriverFor, webhookPart } from "../../../src/cluster/webhooks/part.js";
import type { LoadedPolicyReport } from "../../../src/config/from-cluster/cluster-document.js";
import { FakeApiServer } from "../../kubernetes/client/fake-api-server.js";
import { connect, until } from "../../kubernetes/client/support.js";
import { TestClock } from "../../support/test-clock.js";
import { keptLog } from "../approver/support.js";
import { keyOfPolicy, NO_METRICS, SETTINGS } from "../support.js";
import { kubewarden } from "./documents.js";

test("the status of policies tells whose webhooks are there, and why others' are not", async (context) => {
  const server = await FakeApiServer.start(context);
  const { cluster } = connect(context, server);
  const facts = new PolicyFacts();
  const names = ["asked", "late", "empty", "taken"];
  const documents = new Map(
    names.map((name) => [keyOfPolicy(name), kubewarden(name, name === "empty" ? { rules: [] } : {})]),
  );
  const state: ClusterState = { version: 1, documents, sets: [], unread: [] };
  const routes = new Set(["asked", "taken"].map((name) => policyRoute(`clusterwide-${name}`)));
  const live: ReplicaInfo[] = [{ name: "one", routes, facts: {} }];
  facts.loaded(
    names.map((name): LoadedPolicyReport => {
      const report = { id: `clusterwide-${name}`, key: keyOfPolicy(name), generation: 1, problems: [] };
      return { ...report, state: name === "taken" ? "refused" : "loaded" };
    }),
  );
  const part = webhookPart(
    {
      ...{ cluster, clock: new TestClock(), log: keptLog().logger, facts, settings: SETTINGS, random: () => 0 },
      metrics: NO_METRICS,
      replicas: { live, changed: () => () => {}, serverWall: () => 0, announce: () => {} },
      state: () => state,
      statusOf: () => undefined,
    },
    deriverFor(SETTINGS),
    { caBundle: () => "CA", changed: () => () => {} },
  );
  context.after(() => part.stop());
  part.served?.(state, []);
  part.lead?.(new AbortController().signal);
  await until("the webhooks", () => facts.webhook(keyOfPolicy("asked")) === "there");
  // All of them in one answer may be more than one may have.
  const lists = server.asked("GET /apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations?");
  assert.ok(
    lists.some((path) => /[?&]limit=\d+/.test(path)),
    lists.join(),
  );
  const told = [...documents.keys()].map((key) => [facts.webhook(key), facts.webhookProblem(key)]);
  assert.deepEqual(told, [
    ["there", undefined],
    ["missing", "its webhook waits for the replicas one, which do not serve it yet"],
    ["missing", "has no rule that matches anything: it is not asked"],
    ["none", undefined],
  ]);
});
