import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { describe, type TestContext, test } from "node:test";
import type { ClusterState } from "../../../src/cluster/cluster-state.js";
import { PolicyFacts } from "../../../src/cluster/policy-facts.js";
import { setRoute } from "../../../src/cluster/replicas/route-hash.js";
import { webhookObject } from "../../../src/cluster/webhooks/configuration.js";
import type { DerivedWebhooks } from "../../../src/cluster/webhooks/derive.js";
import { WebhookDeriver } from "../../../src/cluster/webhooks/from-documents.js";
import { deriverFor, idOf, webhookPart } from "../../../src/cluster/webhooks/part.js";
import type { ClusterDocument } from "../../../src/config/from-cluster/cluster-document.js";
import { FakeApiServer } from "../../kubernetes/client/fake-api-server.js";
import { connect, until } from "../../kubernetes/client/support.js";
import { TestClock } from "../../support/test-clock.js";
import { keptLog } from "../approver/support.js";
import { NO_METRICS, SETTINGS } from "../support.js";
import { admissionPolicy, binding, mutatingBinding, mutatingPolicy } from "./documents.js";

const derive = (...documents: readonly ClusterDocument[]): DerivedWebhooks =>
  new WebhookDeriver({ ownNamespace: "policy-server", idOf, enforceMutatingAdmissionPolicies: true }).derive(documents);

const membersOf = ({ webhooks }: DerivedWebhooks): string[] =>
  webhooks.map(({ members }) => members.map((id) => id.replace("mutatingadmissionpolicy-", "")).join());

const condition = (name: string) => ({ matchConditions: [{ name, expression: "object.metadata.name != 'x'" }] });
const rules = (operations: readonly string[], resources: readonly string[] = ["services"]) => ({
  matchConstraints: { resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations, resources }] },
});
const IF_NEEDED = { reinvocationPolicy: "IfNeeded" };

describe("webhooks of MutatingAdmissionPolicies", () => {
  test("are there only where a flag says so, and something binds the policy", () => {
    const documents = [mutatingPolicy("p"), mutatingBinding("p"), mutatingPolicy("unbound")];
    const without = new WebhookDeriver({ ownNamespace: "own", idOf, enforceAdmissionPolicies: true }).derive(documents);
    assert.deepEqual(without.webhooks, []);
    assert.deepEqual(membersOf(derive(...documents)), ["p"]);
  });

  test("say what a webhook can, as a mutating one in a pass of its own", () => {
    const { webhooks, sets } = derive(
      mutatingPolicy("p", { ...condition("a"), ...rules(["*"]) }),
      mutatingBinding("p"),
    );
    const [webhook] = webhooks;
    assert.ok(webhook);
    const { type, name, path, members, matchConditions, failurePolicy, reinvocation } = webhook;
    assert.match(name, /^admission-policies-2\.m[0-9a-f]{15}\.policy-server\.admission$/);
    const hash = name.split(".")[1] ?? "";
    assert.deepEqual(
      { type, path, members, failurePolicy, reinvocation, conditions: matchConditions.map((each) => each.name) },
      {
        ...{ type: "mutating", path: `/validate/set/${hash}`, members: ["mutatingadmissionpolicy-p"] },
        ...{ failurePolicy: "Fail", reinvocation: "Never", conditions: ["a"] },
      },
    );
    // Nothing is mutated that is deleted.
    assert.deepEqual(webhook.rules[0]?.operations, ["CONNECT", "CREATE", "UPDATE"]);
    assert.deepEqual(sets, [{ hash, members, mutates: true }]);
    assert.equal(webhookObject(webhook, { url: "https://a" }).reinvocationPolicy, "Never");
  });

  test("are one where only operations and conditions differ: it asks about what any of them does", () => {
    const documents = [
      mutatingPolicy("a", condition("one")),
      mutatingPolicy("b", { ...condition("two"), ...rules(["UPDATE"]) }),
      ...["a", "b"].map((name) => mutatingBinding(name)),
    ];
    const derived = derive(...documents);
    assert.deepEqual(membersOf(derived), ["a,b"]);
    const [webhook] = derived.webhooks;
    assert.deepEqual(
      webhook?.rules.map(({ operations }) => operations.join()),
      ["CREATE", "UPDATE"],
    );
    assert.deepEqual(webhook?.matchConditions, []);
    const alike = derive(
      mutatingPolicy("a", condition("one")),
      mutatingPolicy("b", condition("one")),
      ...documents.slice(2),
    );
    assert.equal(alike.webhooks[0]?.matchConditions.length, 1);
    // Its path is the same whatever policies there are: replicas that answer it go on.
    assert.equal(
      derive(documents[0] as ClusterDocument, documents[2] as ClusterDocument).webhooks[0]?.path,
      webhook?.path,
    );
  });

  test("are several where resources, selectors, failure policies or bindings' namespaces differ", () => {
    const differing = {
      a: {},
      b: rules(["CREATE"], ["pods"]),
      c: { failurePolicy: "Ignore" },
      d: { matchConstraints: { ...rules(["CREATE"]).matchConstraints, matchPolicy: "Exact" } },
    };
    const policies = Object.entries(differing).map(([name, spec]) => mutatingPolicy(name, spec));
    const bindings = Object.keys(differing).map((name) => mutatingBinding(name));
    const shop = { matchResources: { namespaceSelector: { matchLabels: { team: "shop" } } } };
    const derived = derive(...policies, ...bindings, mutatingPolicy("e"), mutatingBinding("e", shop));
    assert.deepEqual(membersOf(derived).sort(), ["a", "b", "c", "d", "e"]);
  });

  test("are several where ours is not the same: a pass leaves out what each of its policies does", () => {
    const all = { apiGroups: ["*"], apiVersions: ["*"], operations: ["CREATE"], resources: ["*"] };
    const naming = (more: object) => ({
      matchConstraints: {
        resourceRules: [all, { ...all, apiGroups: ["coordination.k8s.io"], resources: ["leases"], ...more }],
      },
    });
    const specs = {
      a: naming({ resourceNames: ["a"] }),
      b: naming({ resourceNames: ["b"] }),
      c: naming({}),
      d: naming({}),
    };
    const documents = Object.entries(specs).flatMap(([name, spec]) => [
      mutatingPolicy(name, spec),
      mutatingBinding(name),
    ]);
    const derived = derive(...documents);
    assert.deepEqual(membersOf(derived).sort(), ["a", "b", "c,d"]);
    for (const { matchConditions } of derived.webhooks)
      assert.match(matchConditions[0]?.expression ?? "", /"openreports\.io\/reports"/);
  });

  test("are called in an order: those that select objects, those that are called once, those that are called again", () => {
    const selecting = {
      matchConstraints: { ...rules(["CREATE"]).matchConstraints, objectSelector: { matchLabels: { a: "b" } } },
    };
    const policies = [
      mutatingPolicy("a", IF_NEEDED),
      mutatingPolicy("b"),
      mutatingPolicy("c", { ...IF_NEEDED, ...selecting }),
    ];
    const derived = derive(...policies, ...["a", "b", "c"].map((name) => mutatingBinding(name)));
    assert.deepEqual(membersOf(derived), ["c", "b", "a"]);
    assert.deepEqual(
      derived.webhooks.map(({ reinvocation }) => reinvocation),
      ["IfNeeded", "Never", "IfNeeded"],
    );
  });

  test("are made by the bindings of their own kind: a ValidatingAdmissionPolicy may have the same name", () => {
    const both = new WebhookDeriver({
      ...{ ownNamespace: "own", idOf, enforceAdmissionPolicies: true, enforceMutatingAdmissionPolicies: true },
    }).derive([mutatingPolicy("p"), admissionPolicy("p"), binding("p")]);
    assert.deepEqual(
      both.webhooks.map(({ type }) => type),
      ["validating"],
    );
  });
});

describe("the API server's own plugin", () => {
  const flags =
    (off: string, gates = "") =>
    (_: unknown, response: ServerResponse) => {
      response.setHeader("content-type", "application/json");
      response.end(
        JSON.stringify({ kind: "Flagz", flags: { "disable-admission-plugins": off, "feature-gates": gates } }),
      );
    };
  const refused = (_: unknown, response: ServerResponse) => {
    response.statusCode = 403;
    response.end(
      JSON.stringify({ kind: "Status", status: "Failure", code: 403, message: "forbidden", reason: "Forbidden" }),
    );
  };

  /** Leads, with one enforced policy. */
  async function leading(
    context: TestContext,
    answer: (request: unknown, response: ServerResponse) => void,
    prepare: (server: FakeApiServer) => void = () => {},
  ) {
    const server = await FakeApiServer.start(context);
    server.special.set("/flagz", answer);
    const { cluster } = connect(context, server);
    const clock = new TestClock();
    const { logger, lines } = keptLog();
    const settings = { ...SETTINGS, enforceMutatingAdmissionPolicies: true };
    const documents = new Map([mutatingPolicy("p"), mutatingBinding("p")].map((each) => [each.key, each]));
    const deriver = deriverFor(settings);
    const { sets } = deriver.derive(documents.values());
    const state: ClusterState = { version: 1, documents, sets, unread: [] };
    const part = webhookPart(
      {
        ...{ cluster, clock, log: logger, facts: new PolicyFacts(), settings, random: () => 0, metrics: NO_METRICS },
        replicas: {
          live: [{ name: "one", routes: new Set(sets.map(({ hash }) => setRoute(hash))), facts: {} }],
          changed: () => () => {},
          serverWall: () => 0,
          announce: () => {},
        },
        state: () => state,
        statusOf: () => undefined,
      },
      deriver,
      { caBundle: () => "CA", changed: () => () => {} },
    );
    context.after(() => part.stop());
    part.served?.(state, []);
    prepare(server);
    part.lead?.(new AbortController().signal);
    const written = () => server.patches.filter(({ body }) => body.kind === "MutatingWebhookConfiguration").length;
    const looks = () => server.asked("GET /apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations").length;
    return { server, cluster, clock, lines, written, looks };
  }

  test("is not enforced a second time, which is said; once it is off, webhooks come", async (context) => {
    const { server, clock, lines, written, looks } = await leading(context, flags("[ServiceAccount]"));
    await until("a word about it", () => JSON.stringify(lines).includes("the API server's own plugin enforces them"));
    const before = looks();
    clock.move(300_000);
    await until("a look at the webhooks", () => looks() > before);
    assert.equal(written(), 0);
    server.special.set("/flagz", flags("[ServiceAccount,MutatingAdmissionPolicy]"));
    await until("webhooks", () => {
      clock.move(60_000);
      return written() > 0;
    });
  });

  test("is looked at as soon as an API server that was away is back, and again soon where that refuses at first", async (context) => {
    const { server, cluster, clock, lines, written } = await leading(context, flags("[ServiceAccount]"));
    await until("a word about it", () => JSON.stringify(lines).includes("the API server's own plugin enforces them"));
    server.special.set("/flagz", refused);
    server.special.set("/readyz", (_, response) => response.writeHead(500).end());
    cluster.http.outage.lost();
    await until("it is away", () => cluster.http.outage.settling);
    server.special.delete("/readyz");
    await until("it is back", () => cluster.http.outage.returnedAt > 0);
    await until("a look at the flags", () => server.asked("GET /flagz").length > 1);
    assert.equal(written(), 0, "what was known counts while it refuses");
    server.special.set("/flagz", flags("[MutatingAdmissionPolicy]"));
    await until("webhooks", () => {
      clock.move(5_000);
      return written() > 0;
    });
  });

  for (const [off, gates] of [
    ["[MutatingAdmissionPolicy]", ""],
    ["[]", "MutatingAdmissionPolicy=false"],
  ] as const) {
    test(`is off by the flags ${off} ${gates}`, async (context) => {
      const { lines, written } = await leading(context, flags(off, gates));
      await until("webhooks", () => written() > 0);
      assert.equal(JSON.stringify(lines).includes("plugin"), false);
    });
  }

  test("may be on where that cannot be read: then the flag of this server decides, and the log warns", async (context) => {
    const { lines, written } = await leading(context, refused);
    await until("webhooks", () => written() > 0);
    assert.match(JSON.stringify(lines), /is not known \(GET \/flagz: .*\): then each mutates twice/);
  });

  test("is not waited for by break-glass: an answer that does not come keeps no webhook", async (context) => {
    const standing = {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "MutatingWebhookConfiguration",
      metadata: {
        name: "policy-server-default",
        labels: {
          "app.kubernetes.io/managed-by": "policy-server",
          "policy-server.admission/server": SETTINGS.policyServer,
        },
      },
      webhooks: [],
    };
    const { server, written } = await leading(
      context,
      () => {},
      (server) => {
        server.put("mutatingwebhookconfigurations", standing);
        const metadata = {
          name: "policy-server-break-glass",
          namespace: SETTINGS.namespace,
          creationTimestamp: new Date(0).toISOString(),
        };
        server.put("configmaps", {
          apiVersion: "v1",
          kind: "ConfigMap",
          metadata,
          data: { expires: "2h", by: "ann" },
        });
      },
    );
    await until("the withdrawal", () => server.asked("DELETE ").length > 0);
    server.remove("configmaps", "policy-server-break-glass", SETTINGS.namespace);
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.equal(written(), 0, "before the plugin is known");
  });
});
