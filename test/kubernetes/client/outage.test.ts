import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
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

describe("an API server that is away", () => {
  test("is asked until it is ready; what waits goes on when it answers, and once more when it is ready", async (context) => {
    const { outage, state } = away(context, "away");
    assert.equal(outage.settling, false);
    outage.lost();
    outage.lost();
    const waited = outage.wait(60_000, new AbortController().signal);
    await until("questions", () => state.asked === 2);
    assert.deepEqual([outage.settling, state.told], [true, 0]);
    state.now = "refuses";
    await until("more questions", () => state.asked === 4);
    assert.equal(state.told, 0);
    state.now = "starts";
    assert.equal(await waited, true);
    await until("more questions", () => state.asked === 6);
    assert.equal(state.told, 1);
    state.now = "ready";
    await until("its return", () => state.told === 2);
    assert.ok(outage.settling && outage.returnedAt > 0);
    const { asked } = state;
    await new Promise((resolve) => setTimeout(resolve, 800));
    assert.equal(state.asked, asked);
  });

  test("was not away when it is ready at once", async (context) => {
    const { outage, state } = away(context, "ready");
    outage.lost();
    await until("the question", () => state.asked === 1);
    assert.deepEqual([outage.settling, state.told], [false, 0]);
  });

  test("counts as ready when it never tells this account", async (context) => {
    const { outage, state } = away(context, "refuses");
    outage.lost();
    await until("its return", () => state.told === 1);
    assert.equal(state.asked, 20);
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
