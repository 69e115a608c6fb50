import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { describe, type TestContext, test } from "node:test";
import { Contact } from "../../../src/cluster/contact.js";
import { ReplicaLeases } from "../../../src/cluster/replicas/replica-leases.js";
import { FakeApiServer } from "../../kubernetes/client/fake-api-server.js";
import { connect, until } from "../../kubernetes/client/support.js";
import { TestClock } from "../../support/test-clock.js";
import { keptLog } from "../approver/support.js";
import { SETTINGS } from "../support.js";

const OWN = "/apis/coordination.k8s.io/v1/namespaces/policy-server/leases/policy-server-replica-one";

function replica(context: TestContext, server: FakeApiServer, name: string, clock = new TestClock()) {
  const { cluster } = connect(context, server);
  const { logger, lines } = keptLog();
  const settings = { ...SETTINGS, replica: name };
  const leases = new ReplicaLeases({ cluster, clock, log: logger, contact: new Contact(clock, logger), settings });
  context.after(() => leases.stop());
  return { leases, clock, lines, names: () => leases.live.map((each) => each.name) };
}

const leaseOf = (server: FakeApiServer, name: string) =>
  server.object("leases", `policy-server-replica-${name}`, "policy-server");

describe("replicas", () => {
  test("know each other by their Leases, and what each says of itself", async (context) => {
    const server = await FakeApiServer.start(context);
    const [one, two] = [replica(context, server, "one"), replica(context, server, "two")];
    await until("each other", () => one.names().length === 2 && two.names().length === 2);
    assert.deepEqual(one.names(), ["one", "two"]);
    let changes = 0;
    two.leases.changed(() => changes++);
    one.leases.announce("routes", "0123abcd,89ef0123");
    one.leases.announce("certificate", "new");
    one.clock.move(100);
    await until("the facts", () => two.leases.live[0]?.facts.certificate === "new");
    assert.deepEqual([...(two.leases.live[0]?.routes ?? [])], ["0123abcd", "89ef0123"]);
    assert.ok(changes > 0);
    const metadata = leaseOf(server, "one")?.metadata;
    assert.deepEqual(metadata?.labels, {
      "app.kubernetes.io/managed-by": "policy-server",
      "policy-server.admission/replica-of": "default",
    });
    assert.deepEqual(metadata?.annotations, {
      "policy-server.admission/certificate": "new",
      "policy-server.admission/routes": "0123abcd,89ef0123",
    });
  });

  test("what is announced while a renewal is under way is written right after it", async (context) => {
    const server = await FakeApiServer.start(context);
    const answers: ServerResponse[] = [];
    server.special.set(OWN, (_, response) => void answers.push(response));
    const one = replica(context, server, "one");
    await until("a renewal", () => answers.length === 1);
    one.leases.announce("routes", "0123abcd");
    server.special.clear();
    answers[0]?.writeHead(500).end();
    await one.leases.settled();
    one.clock.move(100);
    await until("the announcement", () => {
      const annotations = leaseOf(server, "one")?.metadata.annotations as Record<string, string> | undefined;
      return annotations?.["policy-server.admission/routes"] === "0123abcd";
    });
  });

  test("one that does not renew for 40 s is gone, whatever its Lease says; its Lease is deleted 20 s later by who sweeps", async (context) => {
    const server = await FakeApiServer.start(context);
    const one = replica(context, server, "one");
    const metadata = {
      name: "policy-server-replica-two",
      namespace: "policy-server",
      labels: { "policy-server.admission/replica-of": "default" },
    };
    const lease = { metadata, spec: { holderIdentity: "two", renewTime: "2036-01-01T00:00:00.000000Z" } };
    server.put("leases", lease);
    await until("the other one", () => one.names().length === 2 && leaseOf(server, "one") !== undefined);
    const sweeping = new AbortController();
    one.leases.sweep(sweeping.signal);
    /** Moves on while this replica's own renewals are answered. */
    const pass = async (seconds: number): Promise<void> => {
      for (let passed = 0; passed < seconds; passed += 5) {
        one.clock.move(5000);
        await one.leases.settled();
      }
    };
    await one.leases.settled();
    await pass(30);
    assert.deepEqual(one.names(), ["one", "two"]);
    await pass(20);
    assert.deepEqual(one.names(), ["one"]);
    assert.notEqual(leaseOf(server, "two"), undefined);
    await pass(20);
    await until("the deletion", () => leaseOf(server, "two") === undefined);
    sweeping.abort();
  });

  test("nobody is said to have gone while the API server is away", async (context) => {
    const server = await FakeApiServer.start(context);
    const [one, two] = [replica(context, server, "one"), replica(context, server, "two")];
    await until("each other", () => one.names().length === 2 && leaseOf(server, "one") !== undefined);
    server.special.set(OWN, (request) => request.socket.destroy());
    for (let seconds = 0; seconds < 300; seconds += 5) {
      one.clock.move(5000);
      await one.leases.settled();
    }
    assert.deepEqual(one.names(), ["one", "two"]);
    server.special.clear();
    const before = server.patches.length;
    await until("a renewal", async () => {
      one.clock.move(1000);
      await one.leases.settled();
      return server.patches.length > before;
    });
    assert.deepEqual(one.names(), ["one", "two"]);
    await two.leases.stop();
    await until("it to go", () => one.names().length === 1);
  });

  test("one that stops is gone at once", async (context) => {
    const server = await FakeApiServer.start(context);
    const [one, two] = [replica(context, server, "one"), replica(context, server, "two")];
    await until("each other", () => one.names().length === 2);
    await two.leases.stop();
    await until("it to go", () => one.names().length === 1);
    assert.equal(leaseOf(server, "two"), undefined);
  });

  test("what does not fit into annotations is said and left out", async (context) => {
    const server = await FakeApiServer.start(context);
    const one = replica(context, server, "one");
    one.leases.announce("routes", "x".repeat(100_000));
    one.leases.announce("loaded", "x".repeat(150_000));
    assert.equal(one.leases.live[0]?.facts.routes?.length, 100_000);
    assert.equal(one.leases.live[0]?.facts.loaded, undefined);
    assert.equal(one.lines.filter(({ level }) => level === "error").length, 1);
  });

  test("without the right to write Leases it goes on, and says so once", async (context) => {
    const server = await FakeApiServer.start(context);
    server.forbidden.add("patch leases");
    const one = replica(context, server, "one");
    await until("it to be said", () => one.lines.some(({ message }) => message.includes("cannot be written")));
    const asked = () => server.asked("PATCH").length;
    await until("another attempt", async () => {
      one.clock.move(10_000);
      await one.leases.settled();
      return asked() > 2;
    });
    assert.equal(one.lines.filter(({ level }) => level === "error").length, 1);
    assert.deepEqual(one.names(), ["one"]);
  });
});
