import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { PolicyEvents } from "../../../src/cluster/events/policy-events.js";
import type { PartContext } from "../../../src/cluster/part.js";
import { PolicyFacts } from "../../../src/cluster/policy-facts.js";
import { documentOf } from "../../../src/cluster/sources/document.js";
import { Metrics } from "../../../src/telemetry/metrics.js";
import { FakeApiServer } from "../../kubernetes/client/fake-api-server.js";
import { connect, until } from "../../kubernetes/client/support.js";
import { TestClock } from "../../support/test-clock.js";
import { keptLog } from "../approver/support.js";
import { keyOfPolicy, NO_METRICS, policy, SETTINGS } from "../support.js";

const KIND = { group: "policies.kubewarden.io", version: "v1", kind: "ClusterAdmissionPolicy" };

async function eventsOf(context: TestContext) {
  const server = await FakeApiServer.start(context);
  const { cluster } = connect(context, server);
  const clock = new TestClock();
  const { logger, lines } = keptLog();
  const metrics = new Metrics(false);
  const facts = new PolicyFacts();
  const key = keyOfPolicy("a");
  facts.loaded([{ id: "clusterwide-a", key, generation: 1, state: "loaded", problems: [] }]);
  const documents = new Map([[key, documentOf(policy("a"), KIND)]]);
  const part: PartContext = {
    ...{ cluster, clock, log: logger, facts, settings: SETTINGS, random: () => 0 },
    metrics: { ...NO_METRICS, rejections: async () => metrics.rejections() },
    replicas: { live: [], changed: () => () => {}, serverWall: () => 0, announce: () => {} },
    state: () => ({ version: 1, documents, sets: [], unread: [] }),
    statusOf: () => undefined,
  };
  const events = new PolicyEvents(part);
  context.after(() => events.stop());
  const count = (accepted: boolean, kind: string, times: number, mode = "protect", name = "clusterwide-a") => {
    for (let i = 0; i < times; i++)
      metrics.evaluated({
        ...{ policy: name, mode, kind, operation: "CREATE", namespace: "team", accepted, mutated: false },
        ...{ origin: "validate", code: undefined, milliseconds: 1 },
      });
  };
  const notes = () => server.objects("events").map(({ reason, note }) => `${reason}: ${note}`);
  /** A minute passes, and what was to be written is written. */
  const minute = async (events: number) => {
    const timers = () => clock.timers;
    await until("the timer", () => timers() > 0);
    clock.move(60_000);
    await until("the events", () => notes().length >= events);
  };
  return { server, clock, lines, count, notes, minute };
}

describe("events about policies", () => {
  test("say once a minute how much was denied, and an example of it", async (context) => {
    const { server, count, notes, minute } = await eventsOf(context);
    count(true, "Pod", 5);
    count(false, "Pod", 3);
    count(false, "Secret", 9);
    await minute(1);
    assert.deepEqual(notes(), ["Denied: denied 12 requests in the last minute, e.g. CREATE Secret in team"]);
    const [event] = server.objects("events");
    assert.equal(event?.metadata.namespace, "default");
    assert.deepEqual(event?.regarding, {
      ...{ apiVersion: "policies.kubewarden.io/v1", kind: "ClusterAdmissionPolicy", name: "a", uid: "uid-a" },
      resourceVersion: "",
    });
    count(false, "Pod", 1);
    await minute(2);
    assert.equal(notes()[1], "Denied: denied 1 request in the last minute, e.g. CREATE Pod in team");
  });

  test("say of policies in monitor mode what they would have denied, and nothing of policies that are not the cluster's", async (context) => {
    const { count, notes, minute } = await eventsOf(context);
    count(false, "Pod", 2, "monitor");
    count(false, "Pod", 2, "protect", "of-a-file");
    await minute(1);
    assert.deepEqual(notes(), ["WouldDeny: would have denied 2 requests in the last minute, e.g. CREATE Pod in team"]);
  });

  test("are given up for a while where they may not be written, which is said once", async (context) => {
    const { server, clock, lines, count } = await eventsOf(context);
    server.forbidden.add("create events");
    const asked = () => server.asked("POST").length;
    for (let minutes = 0; minutes < 12; minutes++) {
      count(false, "Pod", 1);
      await until("the timer", () => clock.timers > 0);
      clock.move(60_000);
      await until("the look", () => clock.timers > 0);
    }
    await until("the attempts", () => asked() > 0);
    assert.ok(asked() <= 3, `asked ${asked()} times`);
    assert.equal(lines.filter(({ level }) => level === "warn").length, 1);
  });
});
