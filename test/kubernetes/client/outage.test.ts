import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Outage, type Readiness } from "../../../src/kubernetes/client/outage.js";
import { FakeApiServer } from "./fake-api-server.js";
import { connect, until } from "./support.js";

function away(context: TestContext, first: Readiness) {
  const state = { now: first, asked: 0, told: 0 };
  const outage = new Outage(async () => {
    state.asked += 1;
    return state.now;
  });
  outage.over(() => {
    state.told += 1;
  });
  context.after(() => outage.end());
  return { outage, state };
}

/** Moves the time on by as long as it takes at most until the next question. */
function mockedTime(context: TestContext): () => Promise<void> {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  return async () => {
    await nextTurn();
    context.mock.timers.tick(1_000);
    await nextTurn();
  };
}

describe("an API server that is away", () => {
  test("is asked until it is ready; what waits goes on when it answers, and once more when it is ready", async (context) => {
    const { outage, state } = away(context, "away");
    assert.equal(outage.settling, false);
    const later = mockedTime(context);
    outage.lost();
    outage.lost();
    const waited = outage.wait(60_000, new AbortController().signal);
    await later();
    assert.deepEqual([outage.settling, state.asked, state.told], [true, 2, 0]);
    state.now = "refuses";
    await later();
    await later();
    assert.deepEqual([state.asked, state.told], [4, 0]);
    state.now = "starts";
    await later();
    assert.equal(await waited, true);
    await later();
    assert.deepEqual([state.asked, state.told], [6, 1]);
    state.now = "ready";
    await later();
    assert.deepEqual([state.asked, state.told], [7, 2]);
    assert.ok(outage.settling && outage.returnedAt > 0);
    await later();
    assert.equal(state.asked, 7);
  });

  test("was not away when it is ready at once", async (context) => {
    const { outage, state } = away(context, "ready");
    outage.lost();
    await until("the question", () => state.asked === 1);
    assert.deepEqual([outage.settling, state.told], [false, 0]);
  });

  test("counts as ready when it never tells this account", async (context) => {
    const { outage, state } = away(context, "refuses");
    const later = mockedTime(context);
    outage.lost();
    for (let asked = 2; asked <= 20; asked++) {
      assert.equal(state.told, 0);
      await later();
      assert.equal(state.asked, asked);
    }
    assert.equal(state.told, 1);
  });

  test("is noticed by a request that finds no server, and not by one whose caller has gone", async (context) => {
    const server = await FakeApiServer.start(context);
    const { cluster } = connect(context, server);
    server.special.set("/hangs", () => {});
    const gone = new AbortController();
    const asked = cluster.http.get("/hangs", {}, gone.signal);
    gone.abort();
    await assert.rejects(asked);
    assert.equal(server.asked("GET /readyz").length, 0);
    server.special.set("/drops", (_, response) => response.destroy());
    server.special.set("/readyz", (_, response) => response.destroy());
    await assert.rejects(cluster.http.get("/drops", {}, new AbortController().signal));
    await until("it to be noticed", () => cluster.http.outage.settling);
    server.special.set("/readyz", (_, response) => response.end("ok"));
    await until("its return", () => cluster.http.outage.returnedAt > 0);
  });
});
