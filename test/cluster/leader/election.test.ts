import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { Election } from "../../../src/cluster/leader/election.js";
import { Outage, type Readiness } from "../../../src/kubernetes/client/outage.js";
import { FakeApiServer } from "../../kubernetes/client/fake-api-server.js";
import { connect, until } from "../../kubernetes/client/support.js";
import { TestClock } from "../../support/test-clock.js";
import { keptLog, type LogLine } from "../approver/support.js";

const LEASE = "/apis/coordination.k8s.io/v1/namespaces/policy-server/leases/leader";

interface Elector {
  readonly election: Election;
  readonly clock: TestClock;
  readonly lines: LogLine[];
  /** Of each time that it led. */
  readonly signals: AbortSignal[];
  /** Moves its clock, and waits until what that has set off is done. */
  move(milliseconds: number): Promise<void>;
}

function elector(
  context: TestContext,
  server: FakeApiServer,
  identity: string,
  clock = new TestClock(),
  outage?: Outage,
): Elector {
  const { cluster } = connect(context, server);
  const { logger, lines } = keptLog();
  const signals: AbortSignal[] = [];
  const election = new Election({
    http: cluster.http,
    clock,
    random: () => 0,
    log: logger,
    namespace: "policy-server",
    name: "leader",
    identity,
    lead: (signal) => signals.push(signal),
    ...(outage && { outage }),
  });
  context.after(() => election.stop());
  return {
    ...{ election, clock, lines, signals },
    async move(milliseconds) {
      clock.move(milliseconds);
      await election.settled();
    },
  };
}

const spec = (server: FakeApiServer): Record<string, unknown> =>
  (server.object("leases", "leader", "policy-server")?.spec ?? {}) as Record<string, unknown>;

describe("who leads", () => {
  test("is who writes the Lease first, as long as it is renewed", async (context) => {
    const server = await FakeApiServer.start(context);
    const one = elector(context, server, "one");
    await one.election.settled();
    assert.equal(one.election.leading, true);
    const two = elector(context, server, "two");
    await two.election.settled();
    for (let seconds = 0; seconds < 60; seconds += 2) {
      await one.move(2000);
      await two.move(2000);
    }
    assert.deepEqual([one.signals.length, one.signals[0]?.aborted, two.signals.length], [1, false, 0]);
    assert.equal(spec(server).holderIdentity, "one");
    assert.equal(spec(server).leaseTransitions, 0);
    assert.equal(spec(server).leaseDurationSeconds, 15);
    assert.match(String(spec(server).renewTime), /^2026-01-02T03:05:05\.678000Z$/);
    assert.equal(two.election.holder, "one");
  });

  test("refusals from before the API server was ready do not delay the election after it", async (context) => {
    const server = await FakeApiServer.start(context);
    server.forbidden.add("get leases");
    const answers: Readiness[] = ["away", "ready"];
    const outage = new Outage(async () => answers.shift() ?? "ready");
    const one = elector(context, server, "one", new TestClock(), outage);
    await one.election.settled();
    for (let i = 0; i < 6; i++) await one.move(60_000);
    outage.lost();
    const asked = server.requests.length;
    await until("an attempt after its return", () => server.requests.length > asked);
    await one.election.settled();
    server.forbidden.clear();
    await one.move(2_000);
    assert.equal(one.election.leading, true);
  });

  test("another leads when it has seen no renewal for 15 s by its own clock, whatever is written in the Lease", async (context) => {
    const server = await FakeApiServer.start(context);
    const one = elector(context, server, "one");
    await one.election.settled();
    // Its clock is an hour ahead: times are not compared.
    const ahead = new TestClock();
    ahead.move(3_600_000);
    const two = elector(context, server, "two", ahead);
    await two.election.settled();
    await two.move(14_000);
    assert.equal(two.election.leading, false);
    await two.move(2000);
    assert.equal(two.election.leading, true);
    assert.equal(spec(server).leaseTransitions, 1);
    // The first one finds out at its next attempt.
    await one.move(2000);
    assert.deepEqual([one.election.leading, one.signals[0]?.aborted], [false, true]);
  });

  test("a leader that cannot renew ends after 10 s: before another may lead", async (context) => {
    const server = await FakeApiServer.start(context);
    const one = elector(context, server, "one");
    await one.election.settled();
    server.special.set(LEASE, (request) => request.socket.destroy());
    for (let seconds = 0; seconds < 8; seconds += 2) await one.move(2000);
    assert.equal(one.signals[0]?.aborted, false);
    await one.move(2000);
    assert.equal(one.signals[0]?.aborted, true);
    assert.equal(one.election.leading, false);
    // It leads again when the API server is there again.
    server.special.clear();
    await one.move(2000);
    assert.deepEqual([one.election.leading, one.signals.length, one.signals[1]?.aborted], [true, 2, false]);
    assert.equal(spec(server).leaseTransitions, 0);
  });

  test("an answer that comes after the deadline is none", async (context) => {
    const server = await FakeApiServer.start(context);
    const one = elector(context, server, "one");
    await one.election.settled();
    let release = (): void => {};
    server.beforeWrite = () => new Promise((resolve) => (release = resolve));
    one.clock.move(2000);
    await until("the renewal", () => server.asked("PUT").length === 1);
    one.clock.move(4000);
    release();
    server.beforeWrite = () => {};
    await one.election.settled();
    assert.equal(one.signals[0]?.aborted, false);
    server.beforeWrite = () => new Promise((resolve) => (release = resolve));
    one.clock.move(2000);
    await until("the next renewal", () => server.asked("PUT").length === 2);
    one.clock.move(20_000);
    assert.equal(one.signals[0]?.aborted, true);
    release();
    await one.election.settled();
    assert.equal(one.election.leading, false);
  });

  test("who stops lets the other lead at once", async (context) => {
    const server = await FakeApiServer.start(context);
    const one = elector(context, server, "one");
    await one.election.settled();
    const two = elector(context, server, "two");
    await two.election.settled();
    await one.election.stop();
    assert.equal(one.signals[0]?.aborted, true);
    assert.equal(spec(server).holderIdentity, "");
    await two.move(2000);
    assert.equal(two.election.leading, true);
    const puts = server.asked("PUT").length;
    for (let times = 0; times < 2; times++) await one.move(60_000);
    assert.equal(server.asked("PUT").length, puts);
  });

  test("of two who want it at the same moment one gets it", async (context) => {
    const server = await FakeApiServer.start(context);
    const one = elector(context, server, "one");
    await one.election.settled();
    await one.election.stop();
    const [two, three] = [elector(context, server, "two"), elector(context, server, "three")];
    // Both have read the Lease before either writes.
    let both = 0;
    let go = (): void => {};
    const together = new Promise<void>((resolve) => (go = resolve));
    server.beforeWrite = () => {
      both += 1;
      if (both === 2) go();
      return together;
    };
    await Promise.all([two.election.settled(), three.election.settled()]);
    assert.equal([two, three].filter(({ election }) => election.leading).length, 1);
    await two.move(2000);
    await three.move(2000);
    assert.equal([two, three].filter(({ election }) => election.leading).length, 1);
  });

  test("without the right to do so nobody leads, which is said once", async (context) => {
    const server = await FakeApiServer.start(context);
    server.forbidden.add("create leases");
    const one = elector(context, server, "one");
    await one.election.settled();
    for (let seconds = 0; seconds < 60; seconds++) await one.move(1_000);
    const tries = server.asked("POST").length;
    assert.ok(tries >= 5 && tries <= 8, `later and later: ${tries} times in a minute`);
    assert.equal(one.lines.filter(({ level }) => level === "error").length, 1);
    server.forbidden.clear();
    for (let seconds = 0; seconds < 60 && !one.election.leading; seconds++) await one.move(1_000);
    assert.equal(one.election.leading, true);
  });
});
