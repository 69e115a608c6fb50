/** What an approver does beside deciding: it is bounded, survives a cluster that is away, and stops. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Approver } from "../../../src/cluster/approver/approver.js";
import { FakeApiServer, json, status } from "../../kubernetes/client/fake-api-server.js";
import { connect, until } from "../../kubernetes/client/support.js";
import { certificateRequest, conditionsOf, keptLog, REQUESTS, startApprover, TestClock } from "./support.js";

const APPROVED = { result: "Approved", message: "" } as const;
const UNPROCESSED = { result: "Unprocessed", message: "" } as const;

describe("reviews", () => {
  test("are eight at a time at most", async (context) => {
    const server = await FakeApiServer.start(context);
    for (let i = 0; i < 100; i++) server.put(REQUESTS, certificateRequest(`r${i}`));
    let running = 0;
    let most = 0;
    const release: (() => void)[] = [];
    const { reviewed } = await startApprover(context, server, async () => {
      running++;
      most = Math.max(most, running);
      await new Promise<void>((resolve) => release.push(resolve));
      running--;
      return UNPROCESSED;
    });
    await until("eight reviews", () => running === 8);
    await until("all reviews", () => {
      release.shift()?.();
      return reviewed.length === 100;
    });
    assert.equal(most, 8);
  });

  test("that hang give up their place", async (context) => {
    const server = await FakeApiServer.start(context);
    server.put(REQUESTS, certificateRequest("a"));
    let signal: AbortSignal | undefined;
    const { clock, lines, reviewed } = await startApprover(context, server, (_, given) => {
      signal = given;
      return new Promise(() => {});
    });
    await until("the review", () => reviewed.length === 1);
    clock.move(30_000);
    await until("its end", () => lines.some(({ fields }) => fields.reason === "the review took longer than 30000 ms"));
    assert.ok(signal?.aborted);
    assert.equal(server.patches.length, 0);
  });

  test("of requests that are too many to be held fetch them", async (context) => {
    const server = await FakeApiServer.start(context);
    for (const name of ["a", "b"]) server.put(REQUESTS, certificateRequest(name));
    const { reviewed } = await startApprover(context, server, () => APPROVED, { maxHeldBytes: 0 });
    await until("the decisions", () => ["a", "b"].every((name) => conditionsOf(server, name).length > 0));
    assert.deepEqual(reviewed, ["a", "b"]);
    assert.equal(server.asked("GET /apis/cert-manager.io/v1/namespaces/team/certificaterequests/").length, 2);
  });

  test("of requests that are decided by the time that they are fetched are not made", async (context) => {
    const server = await FakeApiServer.start(context);
    for (const name of ["a", "b"]) server.put(REQUESTS, certificateRequest(name));
    const decided = certificateRequest("a", { status: { conditions: [{ type: "Denied", status: "True" }] } });
    server.special.set("/apis/cert-manager.io/v1/namespaces/team/certificaterequests/a", (_, response) => {
      json(response, 200, { ...decided, metadata: { ...decided.metadata, resourceVersion: "1" } });
    });
    const { reviewed } = await startApprover(context, server, () => APPROVED, { maxHeldBytes: 0 });
    await until("the other decision", () => conditionsOf(server, "b").length > 0);
    assert.deepEqual(reviewed, ["b"]);
  });

  test("that need not wait leave others their turn", async (context) => {
    const server = await FakeApiServer.start(context);
    for (let i = 0; i < 50; i++) server.put(REQUESTS, certificateRequest(`r${i}`));
    let clock: TestClock | undefined;
    let turns = 0;
    const test = await startApprover(context, server, () => {
      // Each review takes as long as a slice.
      clock?.move(5);
      return UNPROCESSED;
    });
    clock = test.clock;
    await until("the first reviews", () => test.reviewed.length === 50);
    const count = async (): Promise<void> => {
      for (; test.reviewed.length < 100; turns++) await nextTurn();
    };
    const counting = count();
    test.approver.policiesChanged();
    await counting;
    // Eight begin together at most.
    assert.ok(turns >= 5, `${turns} turns`);
  });
});

describe("the list of requests", () => {
  test("read anew has only those reviewed that have changed", async (context) => {
    const server = await FakeApiServer.start(context);
    for (const name of ["same", "changed", "gone"]) server.put(REQUESTS, certificateRequest(name));
    const { reviewed, approver } = await startApprover(context, server, () => UNPROCESSED);
    await until("the first reviews", () => reviewed.length === 3);
    reviewed.length = 0;
    server.putUnseen(REQUESTS, certificateRequest("changed"));
    server.putUnseen(REQUESTS, certificateRequest("new"));
    server.oldest = 1_000_000;
    server.cut();
    await until("the next list", () => reviewed.length === 2);
    server.oldest = 0;
    await until("the watch", () => server.watching === 6);
    assert.deepEqual(reviewed.sort(), ["changed", "new"]);
    assert.deepEqual(approver.counts(), [{ namespace: "team", status: "unmatched", count: 4 }]);
  });

  test("is read although its requests are as large as they may be", async (context) => {
    const server = await FakeApiServer.start(context);
    const large = (name: string) =>
      certificateRequest(name, { spec: { request: "A".repeat(1_500_000), issuerRef: { name: "issuer" } } });
    for (let i = 0; i < 45; i++) server.put(REQUESTS, large(`r${i}`));
    const { approver } = await startApprover(context, server, () => UNPROCESSED);
    assert.deepEqual(approver.counts(), [{ namespace: "team", status: "unmatched", count: 45 }]);
    const lists = server.asked("GET /apis/cert-manager.io/v1/certificaterequests?limit=");
    assert.match(lists[0] ?? "", /limit=25$/, "so many that the API server answers in time");
    assert.match(lists.at(-1) ?? "", /limit=1&/, "so few that parsing them holds nobody up");
  });

  test("that cannot be had is asked for again, and said once", async (context) => {
    const server = await FakeApiServer.start(context);
    const path = "/apis/cert-manager.io/v1/certificaterequests";
    server.special.set(path, (_, response) => status(response, 404, "NotFound", "no such resource"));
    const { clock, lines, reviewed } = await startApprover(context, server, () => APPROVED, { watches: 5 });
    const errors = () => lines.filter(({ level }) => level === "error");
    await until("the failure", () => errors().length === 1);
    clock.move(1_000);
    await until("another attempt", () => server.asked(`GET ${path}`).length === 2);
    server.special.clear();
    server.put(REQUESTS, certificateRequest("a"));
    await until("the list", () => {
      clock.move(30_000);
      return reviewed.length === 1;
    });
    assert.deepEqual(
      errors().map(({ message, fields }) => [message, fields.reason]),
      [["CertificateRequests cannot be watched", "no such resource"]],
    );
  });
});

describe("an approver that is stopped", () => {
  test("ends what is under way and decides nothing after that", async (context) => {
    const server = await FakeApiServer.start(context);
    for (const name of ["a", "b"]) server.put(REQUESTS, certificateRequest(name));
    let release: () => void = () => {};
    const { approver, reviewed, clock } = await startApprover(context, server, async () => {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      return APPROVED;
    });
    await until("the reviews", () => reviewed.length === 2);
    await Promise.all([approver.stop(), approver.stop()]);
    release();
    server.put(REQUESTS, certificateRequest("c"));
    clock.move(3_600_000);
    approver.policiesChanged();
    await until("the end of all watches", () => server.watching === 0);
    assert.deepEqual([reviewed.length, server.patches.length], [2, 0]);
  });

  test("before the first list is there ends as well", async (context) => {
    const server = await FakeApiServer.start(context);
    server.put(REQUESTS, certificateRequest("a"));
    const { cluster } = connect(context, server);
    const approver = new Approver({
      cluster,
      clock: new TestClock(),
      log: keptLog().logger,
      random: () => 0,
      instance: "test",
      decide: () => assert.fail("nothing is to be decided"),
    });
    await approver.stop();
    await until("the list", () => server.asked("GET /apis/cert-manager.io/v1/certificaterequests?limit").length === 1);
    await nextTurn();
    assert.equal(server.patches.length, 0);
  });
});
