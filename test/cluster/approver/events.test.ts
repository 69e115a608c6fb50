import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { Events, type RequestEvent, shortened } from "../../../src/cluster/approver/events.js";
import { FakeApiServer, status } from "../../kubernetes/client/fake-api-server.js";
import { connect, PATIENT, until } from "../../kubernetes/client/support.js";
import { certificateRequest, keptLog, TestClock } from "./support.js";

const UNPROCESSED: RequestEvent = { type: "Normal", reason: "Unprocessed", note: "ignoring" };
const POSTS = "POST /apis/events.k8s.io/v1/namespaces/team/events";

async function start(context: TestContext) {
  const server = await FakeApiServer.start(context);
  const { cluster } = connect(context, server);
  const clock = new TestClock();
  const { logger, lines } = keptLog();
  return { server, clock, lines, events: new Events(cluster.http, clock, logger, "pod-1", PATIENT) };
}

const versioned = (name: string, resourceVersion: string) => {
  const request = certificateRequest(name);
  return { ...request, metadata: { ...request.metadata, resourceVersion } };
};

describe("events", () => {
  test("have what the API server asks for", async (context) => {
    const { server, events } = await start(context);
    events.record(versioned("a", "7"), UNPROCESSED);
    await until("the event", () => server.objects("events").length === 1);
    const [event] = server.objects("events");
    const { name, namespace } = event?.metadata ?? {};
    assert.match(String(name), /^a\.[0-9a-f]{16}$/);
    assert.equal(namespace, "team");
    const { metadata: _, ...rest } = event ?? {};
    assert.deepEqual(rest, {
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      eventTime: "2026-01-02T03:04:05.678000Z",
      reportingController: "policy.cert-manager.io",
      reportingInstance: "pod-1",
      action: "Synced",
      type: "Normal",
      reason: "Unprocessed",
      regarding: {
        apiVersion: "cert-manager.io/v1",
        kind: "CertificateRequest",
        namespace: "team",
        name: "a",
        uid: "uid-a",
        resourceVersion: "7",
      },
      note: "ignoring",
    });
  });

  test("are written once for a version of a request, by all replicas together", async (context) => {
    const { server, events } = await start(context);
    for (const version of ["1", "1", "2"]) events.record(versioned("a", version), UNPROCESSED);
    await until("the events", () => server.asked(POSTS).length === 2);
    const again = connect(context, server);
    const { logger, lines } = keptLog();
    const other = new Events(again.cluster.http, new TestClock(), logger, "pod-2", PATIENT);
    other.record(versioned("a", "1"), UNPROCESSED);
    await until("the third attempt", () => server.asked(POSTS).length === 3);
    other.record(versioned("b", "1"), UNPROCESSED);
    await until("another event", () => server.objects("events").length === 3);
    assert.equal(server.asked(POSTS).length, 4);
    assert.deepEqual(lines, []);
  });

  test("are dropped where there are too many at once, and come again with time", async (context) => {
    const { server, clock, events } = await start(context);
    for (let i = 0; i < 300; i++) events.record(versioned(`r${i}`, "1"), UNPROCESSED);
    await until("the first", () => server.objects("events").length === 100);
    clock.move(1_000);
    for (let i = 0; i < 300; i++) events.record(versioned(`s${i}`, "1"), UNPROCESSED);
    await until("ten more", () => server.objects("events").length === 110);
    clock.move(1_000);
    events.record(versioned("last", "1"), UNPROCESSED);
    await until("the last", () => server.objects("events").length === 111);
    assert.equal(server.asked(POSTS).length, 111);
  });

  test("that may not be written are said once, and left out for a while", async (context) => {
    const { server, clock, events, lines } = await start(context);
    server.beforeWrite = (_, response) => status(response, 403, "Forbidden", "events is forbidden");
    for (const name of ["a", "b"]) {
      events.record(versioned(name, "1"), UNPROCESSED);
      await until(`the refusal of ${name}`, () => server.asked(POSTS).length >= 1 && lines.length === 1);
    }
    const before = server.asked(POSTS).length;
    clock.move(300_001);
    events.record(versioned("c", "1"), UNPROCESSED);
    await until("the next attempt", () => server.asked(POSTS).length === before + 1);
    server.beforeWrite = () => {};
    clock.move(300_001);
    events.record(versioned("d", "1"), UNPROCESSED);
    await until("the event", () => server.objects("events").length === 1);
    assert.deepEqual(
      lines.map(({ level, fields }) => [level, fields.reason]),
      [["warn", "events is forbidden"]],
    );
  });

  test("have as much text as fits, in whole characters", () => {
    assert.equal(shortened("short"), "short");
    assert.equal(shortened("x".repeat(1_024)).length, 1_024);
    const cut = shortened("ä".repeat(1_000));
    assert.ok(Buffer.byteLength(cut) <= 1_024);
    assert.match(cut, /^ä{510}…$/);
  });
});
