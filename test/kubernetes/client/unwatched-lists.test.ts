import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { restAfterFailure, restAfterList } from "../../../src/kubernetes/client/watch-timing.js";
import { FakeApiServer, status } from "./fake-api-server.js";
import { connect, names, PATIENT, PODS, pod, until } from "./support.js";

const PAGE = "GET /api/v1/pods?limit";

describe("a list that may not be watched", () => {
  test("is told for five seconds, and read again no more often than its pages allow", async (context) => {
    const server = await FakeApiServer.start(context);
    for (let i = 0; i < 2_000; i++) server.put("pods", pod(`p${i}`));
    server.forbidden.add("watch pods");
    const cluster = connect(context, server);
    const ask = async (): Promise<string> => {
      try {
        const { length } = await cluster.reader.list(PODS, {}, PATIENT);
        return `${length} of ${server.asked(PAGE).length} pages`;
      } catch (error) {
        return String(error);
      }
    };
    assert.equal(await ask(), "2000 of 8 pages");
    await until("the refusal", () => cluster.notes.length === 1);
    const answers: string[] = [];
    for (let i = 0; i < 5; i++) {
      cluster.skip(4_000);
      answers.push(await ask());
    }
    // After 4, 8, 12, 16 and 20 s; the second list has been read after 8 s, and the third would be due after 16.
    const kept = (pages: number) => `2000 of ${pages} pages`;
    assert.deepEqual(answers.slice(0, 3), [kept(8), kept(16), kept(16)]);
    assert.ok(server.asked(PAGE).length <= 24, String(server.asked(PAGE).length));
    cluster.skip(6_000);
    assert.match(cluster.notes.join("\n"), /^watching \/api\/v1\/pods is refused: .*$/, "said once");
  });

  test("fails with the refusal while it is too old to be told and too dear to be read", async (context) => {
    const server = await FakeApiServer.start(context);
    for (let i = 0; i < 2_000; i++) server.put("pods", pod(`p${i}`));
    server.forbidden.add("watch pods");
    const cluster = connect(context, server);
    await cluster.reader.list(PODS, {}, PATIENT);
    await until("the refusal", () => cluster.notes.length === 1);
    cluster.skip(5_500);
    await assert.rejects(cluster.reader.list(PODS, {}, PATIENT), /cannot watch resource "pods"/);
    assert.equal(server.asked(PAGE).length, 8);
    cluster.skip(2_600);
    assert.equal((await cluster.reader.list(PODS, {}, PATIENT)).length, 2_000);
  });

  test("is watched from the next list on when that may be done then", async (context) => {
    const server = await FakeApiServer.start(context);
    server.put("pods", pod("a"));
    server.forbidden.add("watch pods");
    const cluster = connect(context, server);
    await cluster.reader.list(PODS, {}, PATIENT);
    await until("the refusal", () => cluster.notes.length === 1);
    server.forbidden.clear();
    cluster.skip(5_001);
    await cluster.reader.list(PODS, {}, PATIENT);
    await until("the watch", () => server.watching === 1);
    server.put("pods", pod("b"));
    await until("the addition", async () => names(await cluster.reader.list(PODS, {}, PATIENT)).length === 2);
    assert.equal(server.asked(PAGE).length, 2);
  });
});

describe("a list that fails", () => {
  test("is asked for again later and later, when it is asked for at all", async (context) => {
    const server = await FakeApiServer.start(context);
    server.forbidden.add("list pods");
    const cluster = connect(context, server);
    const asked: number[] = [];
    for (let second = 0; second < 64; second++) {
      const before = server.asked(PAGE).length;
      await assert.rejects(cluster.reader.list(PODS, {}, PATIENT), /pods is forbidden/);
      if (server.asked(PAGE).length > before) asked.push(second);
      cluster.skip(1_000);
    }
    assert.deepEqual(asked, [0, 1, 3, 7, 15, 31, 63]);
  });

  test("is wanted soon when the API server was away, or when there was no such resource", async (context) => {
    const server = await FakeApiServer.start(context);
    const cluster = connect(context, server);
    server.special.set("/api/v1/pods", (_, response) => status(response, 404, "", "404 page not found"));
    for (let i = 1; i <= 5; i++) {
      await assert.rejects(cluster.reader.list(PODS, {}, PATIENT));
      assert.equal(server.asked(PAGE).length, i);
      cluster.skip(1_001);
    }
    server.special.clear();
    assert.deepEqual(await cluster.reader.list(PODS, {}, PATIENT), []);
  });

  test("rests as long as its failures and its pages say", () => {
    const refused = [1, 2, 3, 9, 40].map((failures) => restAfterFailure(failures, 1, true));
    assert.deepEqual(refused, [1_000, 2_000, 4_000, 60_000, 60_000]);
    const away = [1, 2, 3, 4, 40].map((failures) => restAfterFailure(failures, 1, false));
    assert.deepEqual(away, [1_000, 2_000, 4_000, 8_000, 8_000]);
    assert.equal(restAfterFailure(1, 81, false), 80_000, "eighty pages were read for nothing");
    assert.deepEqual([1, 5, 80, 1_000].map(restAfterList), [5_000, 5_000, 80_000, 300_000]);
  });
});
