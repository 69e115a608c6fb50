import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { describe, type TestContext, test } from "node:test";
import { Contact } from "../../../src/cluster/contact.js";
import { Source } from "../../../src/cluster/sources/source.js";
import { Sources } from "../../../src/cluster/sources/sources.js";
import { ResourceError } from "../../../src/kubernetes/client/errors.js";
import { FakeApiServer } from "../../kubernetes/client/fake-api-server.js";
import { connect, until } from "../../kubernetes/client/support.js";
import { TestClock } from "../../support/test-clock.js";
import { keptLog, type LogLine } from "../approver/support.js";
import { DEFINITIONS, define, KUBEWARDEN, keyOfPolicy, POLICIES, policy, SETTINGS } from "../support.js";

interface Followed {
  readonly sources: Sources;
  readonly clock: TestClock;
  readonly lines: LogLine[];
  /** Keys of documents, and of those with another status only, in the order in which they were told. */
  readonly documents: string[];
  readonly statuses: string[];
}

function follow(context: TestContext, server: FakeApiServer): Followed {
  const { cluster } = connect(context, server);
  const clock = new TestClock();
  const { logger, lines } = keptLog();
  const documents: string[] = [];
  const statuses: string[] = [];
  const sources = new Sources({
    ...{ cluster, clock, log: logger, settings: SETTINGS, contact: new Contact(clock, logger) },
    changed: (changed, others) => {
      documents.push(...changed);
      statuses.push(...others);
    },
    moved: () => {},
  });
  context.after(() => sources.stop());
  return { sources, clock, lines, documents, statuses };
}

const keysOf = (sources: Sources): string[] => [...sources.documents()].map(({ key }) => key).sort();

describe("what a cluster holds of policies", () => {
  test("is known when each kind that is defined has been read; policies of other servers do not belong to it", async (context) => {
    const server = await FakeApiServer.start(context);
    define(server, ...KUBEWARDEN);
    server.put(POLICIES, policy("ours"));
    server.put(POLICIES, policy("named", { policyServer: "default" }));
    server.put(POLICIES, policy("others", { policyServer: "reserved" }));
    server.put("policyservers", { metadata: { name: "default" } });
    server.put("policyservers", { metadata: { name: "reserved" } });
    const { sources } = follow(context, server);
    assert.equal(sources.complete, false);
    await until("all", () => sources.complete);
    assert.deepEqual(sources.unread, []);
    assert.deepEqual(keysOf(sources), [
      keyOfPolicy("named"),
      keyOfPolicy("ours"),
      "policies.kubewarden.io/PolicyServer//default",
    ]);
  });

  test("changes with what the watch tells; another status is no other document", async (context) => {
    const server = await FakeApiServer.start(context);
    define(server, ...KUBEWARDEN);
    server.put(POLICIES, policy("a"));
    const { sources, documents, statuses } = follow(context, server);
    await until("all", () => sources.complete && server.watching > 5);
    documents.length = 0;
    const before = sources.item(keyOfPolicy("a"))?.document;
    server.put(POLICIES, policy("a", {}, { status: { policyStatus: "active" } }));
    await until("the status", () => statuses.length > 0);
    assert.deepEqual(documents, []);
    assert.equal(sources.item(keyOfPolicy("a"))?.document, before);
    assert.deepEqual(sources.item(keyOfPolicy("a"))?.status, { policyStatus: "active" });
    server.put(POLICIES, policy("a", { module: "registry://example.org/policy:v2" }));
    await until("the change", () => documents.length > 0);
    server.remove(POLICIES, "a");
    await until("the deletion", () => documents.length > 1);
    assert.deepEqual(documents, [keyOfPolicy("a"), keyOfPolicy("a")]);
    assert.deepEqual(keysOf(sources), []);
  });

  test("a policy that is given to another server is gone", async (context) => {
    const server = await FakeApiServer.start(context);
    define(server, ...KUBEWARDEN);
    server.put(POLICIES, policy("a"));
    const { sources } = follow(context, server);
    await until("all", () => sources.complete && server.watching > 5);
    server.put(POLICIES, policy("a", { policyServer: "reserved" }));
    await until("it to go", () => keysOf(sources).length === 0);
  });

  test("a kind that is defined later is read at once, and gone with its definition", async (context) => {
    const server = await FakeApiServer.start(context);
    const served = server.resources.get("/apis/policies.kubewarden.io/v1") ?? [];
    server.resources.delete("/apis/policies.kubewarden.io/v1");
    const { sources, clock } = follow(context, server);
    await until("all", () => sources.complete);
    server.put(POLICIES, policy("a"));
    define(server, ...KUBEWARDEN);
    // The API server serves it a moment after it is defined.
    const asked = () => server.asked("GET /apis/policies.kubewarden.io").length;
    const before = asked();
    await until("a question", () => asked() > before);
    assert.equal(sources.complete, true);
    server.resources.set("/apis/policies.kubewarden.io/v1", served);
    await until("the policy", () => {
      clock.move(250);
      return keysOf(sources).length === 1;
    });
    server.resources.delete("/apis/policies.kubewarden.io/v1");
    for (const name of KUBEWARDEN) server.remove(DEFINITIONS, name);
    await until("it to go", () => keysOf(sources).length === 0);
    assert.equal(sources.complete, true);
  });

  test("a kind that may not be listed is said once, and the others are read", async (context) => {
    const server = await FakeApiServer.start(context);
    define(server, ...KUBEWARDEN);
    server.forbidden.add("list admissionpolicies");
    server.put(POLICIES, policy("a"));
    const { sources, clock, lines } = follow(context, server);
    await until("all", () => sources.complete);
    assert.deepEqual(keysOf(sources), [keyOfPolicy("a")]);
    const [unread, ...more] = sources.unread;
    assert.equal(unread?.resource, "admissionpolicies.policies.kubewarden.io");
    assert.match(unread?.why ?? "", /list/);
    assert.deepEqual(more, []);
    const lists = () => server.asked("GET /apis/policies.kubewarden.io/v1/admissionpolicies").length;
    await until("more attempts", () => {
      clock.move(30_000);
      return lists() > 3;
    });
    assert.equal(lines.filter(({ level }) => level === "error").length, 1);
    server.forbidden.clear();
    await until("it to be read", () => {
      clock.move(30_000);
      return sources.unread.length === 0;
    });
  });

  test("a PolicyServer that may not be read is there, and says nothing: as long as nobody knows what it asks of modules", async (context) => {
    const server = await FakeApiServer.start(context);
    define(server, ...KUBEWARDEN);
    server.forbidden.add("list policyservers");
    const { sources, clock, documents } = follow(context, server);
    await until("all", () => sources.complete);
    const key = "policies.kubewarden.io/PolicyServer//default";
    assert.deepEqual(keysOf(sources), [key]);
    assert.equal(sources.item(key)?.document.text, "");
    assert.ok(documents.includes(key));
    documents.length = 0;
    server.forbidden.clear();
    await until("it to be read", () => {
      clock.move(30_000);
      return sources.unread.length === 0;
    });
    assert.deepEqual(keysOf(sources), []);
    assert.ok(documents.includes(key));
  });

  test("what was read stays when it may not be read any more", async (context) => {
    const server = await FakeApiServer.start(context);
    define(server, ...KUBEWARDEN);
    server.put(POLICIES, policy("a"));
    const { sources, lines } = follow(context, server);
    await until("all", () => sources.complete && server.watching > 5);
    server.forbidden.add("list clusteradmissionpolicies");
    server.forbidden.add("watch clusteradmissionpolicies");
    server.cut();
    await until("it to be said", () => lines.some(({ message }) => message.includes("goes on being served")));
    assert.deepEqual(keysOf(sources), [keyOfPolicy("a")]);
    assert.deepEqual(sources.unread, []);
    assert.equal(sources.complete, true);
  });

  test("without the right to watch definitions discovery is asked every 10 s", async (context) => {
    const server = await FakeApiServer.start(context);
    server.forbidden.add("list customresourcedefinitions");
    const served = server.resources.get("/apis/policies.kubewarden.io/v1") ?? [];
    server.resources.delete("/apis/policies.kubewarden.io/v1");
    const { sources, clock } = follow(context, server);
    // An API server that starts may not know all kinds yet: it has to say so several times.
    await until("all", () => {
      clock.move(250);
      return sources.complete;
    });
    assert.ok(server.asked("GET /apis/policies.kubewarden.io").length >= 3);
    server.resources.set("/apis/policies.kubewarden.io/v1", served);
    server.put(POLICIES, policy("a"));
    clock.move(10_000);
    await until("the policy", () => keysOf(sources).length === 1);
  });

  test("a PolicyServer that names another ConfigMap is told of when that has been read", async (context) => {
    const server = await FakeApiServer.start(context);
    define(server, ...KUBEWARDEN);
    server.put("configmaps", { metadata: { name: "verification", namespace: "policy-server" } });
    server.put("policyservers", { metadata: { name: "default", uid: "u", generation: 1 } });
    const { sources, documents } = follow(context, server);
    await until("all", () => sources.complete && server.watching > 5);
    const key = "policies.kubewarden.io/PolicyServer//default";
    documents.length = 0;
    const held: IncomingMessage[] = [];
    const path = "/api/v1/namespaces/policy-server/configmaps";
    server.special.set(path, (request) => void held.push(request));
    const spec = { verificationConfig: "verification" };
    server.put("policyservers", { metadata: { name: "default", uid: "u", generation: 2 }, spec });
    await until("a question", () => held.length === 1);
    assert.deepEqual(documents, []);
    // One that cannot be read is not waited for.
    for (const request of held) request.socket.destroy();
    await until("the change", () => documents.length > 0);
    assert.equal(documents[0], key);
  });

  test("a kind that was there is not given up within a second, where definitions may not be watched", async (context) => {
    const server = await FakeApiServer.start(context);
    server.forbidden.add("list customresourcedefinitions");
    server.put(POLICIES, policy("a"));
    const { sources, clock } = follow(context, server);
    await until("all", () => {
      clock.move(250);
      return sources.complete && keysOf(sources).length === 1;
    });
    server.resources.delete("/apis/policies.kubewarden.io/v1");
    const asked = () => server.requests.filter((path) => path === "GET /apis/policies.kubewarden.io").length;
    const before = asked();
    // Their lists end, and each source asks by itself whether its kind is still there.
    server.cut();
    await until("questions", () => asked() > before + 1);
    let seconds = 0;
    await until("some seconds", () => {
      clock.move(250);
      seconds += 0.25;
      return seconds > 4;
    });
    assert.deepEqual(keysOf(sources), [keyOfPolicy("a")]);
    await until("it to go", () => {
      clock.move(10_000);
      return keysOf(sources).length === 0;
    });
  });

  test("what was read stays when its kind is served in no known version any more, and goes with its definition", async (context) => {
    const server = await FakeApiServer.start(context);
    define(server, ...KUBEWARDEN);
    server.put(POLICIES, policy("a"));
    const { sources, clock, lines } = follow(context, server);
    await until("all", () => sources.complete && server.watching > 5);
    const served = server.resources.get("/apis/policies.kubewarden.io/v1") ?? [];
    server.resources.delete("/apis/policies.kubewarden.io/v1");
    server.resources.set("/apis/policies.kubewarden.io/v9", served);
    for (const name of KUBEWARDEN) server.put(DEFINITIONS, { metadata: { name, labels: { served: "v9" } } });
    await until("it to be said", () => {
      clock.move(250);
      return sources.unread.length === KUBEWARDEN.length;
    });
    assert.ok(lines.some(({ level, message }) => level === "error" && message.includes("goes on being served")));
    assert.deepEqual(keysOf(sources), [keyOfPolicy("a")]);
    assert.equal(sources.complete, true);
    server.resources.delete("/apis/policies.kubewarden.io/v9");
    for (const name of KUBEWARDEN) server.remove(DEFINITIONS, name);
    await until("it to go", () => keysOf(sources).length === 0);
    assert.deepEqual(sources.unread, []);
  });

  test("a kind that is too large is said, not waited for, and no silence of the API server", async () => {
    const clock = new TestClock();
    const { logger, lines } = keptLog();
    const error = new ResourceError("there are more than 20000 objects of the kind AdmissionPolicy");
    const list = { ready: Promise.reject(error), ended: Promise.resolve(error), stop: () => {} };
    let lists = 0;
    const cluster = {
      follow: () => {
        lists++;
        return list;
      },
    };
    const source = new Source({
      ...{ clock, log: logger, contact: new Contact(clock, logger), namespace: "" },
      cluster: cluster as unknown as ConstructorParameters<typeof Source>[0]["cluster"],
      kind: { group: "policies.kubewarden.io", version: "v1", kind: "AdmissionPolicy", plural: "admissionpolicies" },
      ...{ wanted: () => true, arePolicies: true, changed: () => {}, moved: () => {}, unknown: () => {} },
    });
    await until("the end", () => source.state !== "waiting");
    assert.equal(source.state, "refused");
    assert.match(source.publicReason, /more than 20000/);
    // All of it is asked for again: not every second.
    clock.move(29_000);
    assert.equal(lists, 1);
    clock.move(1000);
    assert.equal(lists, 2);
    await new Promise((resolve) => setImmediate(resolve));
    source.stop();
    assert.deepEqual(
      lines.map(({ level, message }) => [level, message]),
      [["error", "policies cannot be read: none of them is served"]],
    );
  });

  test("a kind that is served in no known version is never taken for absent", async (context) => {
    const server = await FakeApiServer.start(context);
    define(server, "validatingpolicies.policies.kyverno.io");
    server.resources.set("/apis/policies.kyverno.io/v3", [
      { name: "validatingpolicies", kind: "ValidatingPolicy", namespaced: false },
    ]);
    const { sources, clock } = follow(context, server);
    await until("the answer", () => {
      clock.move(250);
      return sources.complete;
    });
    assert.deepEqual(sources.unread, [
      { resource: "validatingpolicies.policies.kyverno.io", why: "it is served in no version known here" },
    ]);
  });

  test("the newest served version that is known is read", async (context) => {
    const server = await FakeApiServer.start(context);
    define(server, "validatingpolicies.policies.kyverno.io");
    const served = [{ name: "validatingpolicies", kind: "ValidatingPolicy", namespaced: false }];
    for (const version of ["v1alpha1", "v1beta1"]) server.resources.set(`/apis/policies.kyverno.io/${version}`, served);
    const { sources } = follow(context, server);
    await until("all", () => sources.complete);
    assert.equal(server.asked("GET /apis/policies.kyverno.io/v1beta1/validatingpolicies?limit").length, 1);
    assert.equal(server.asked("GET /apis/policies.kyverno.io/v1alpha1/validatingpolicies?limit").length, 0);
  });

  test("a ConfigMap that the PolicyServer names is read, no other, and not before it is named", async (context) => {
    const server = await FakeApiServer.start(context);
    define(server, ...KUBEWARDEN);
    for (const name of ["verification", "another"])
      server.put("configmaps", { metadata: { name, namespace: "policy-server" } });
    const { sources } = follow(context, server);
    await until("all", () => sources.complete && server.watching > 5);
    assert.deepEqual(server.asked("GET /api/v1/"), []);
    const named = { metadata: { name: "default" }, spec: { verificationConfig: "verification" } };
    server.put("policyservers", named);
    await until("the ConfigMap", () => keysOf(sources).includes("/ConfigMap/policy-server/verification"));
    server.put("policyservers", { ...named, spec: {} });
    await until("it to go", () => !keysOf(sources).includes("/ConfigMap/policy-server/verification"));
    // With the kind goes what it names.
    server.put("policyservers", named);
    await until("the ConfigMap", () => keysOf(sources).includes("/ConfigMap/policy-server/verification"));
    server.resources.delete("/apis/policies.kubewarden.io/v1");
    for (const name of KUBEWARDEN) server.remove(DEFINITIONS, name);
    await until("it to go", () => keysOf(sources).length === 0);
    assert.ok(server.asked("GET /api/v1/").every((request) => request.includes("metadata.name=verification")));
  });
});
