import assert from "node:assert/strict";
import { once } from "node:events";
import net from "node:net";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { admissionReview, entry, immediate, post, serve } from "./fake-policy.js";
import { connect, postText } from "./raw-client.js";

const GOOD = JSON.stringify(admissionReview());

describe("stopping", () => {
  test("requests under way are answered, with Connection: close; silent connections are closed; new ones refused", async () => {
    const server = await serve([
      entry("slow", async () => {
        await sleep(200);
        return { verdict: "deny", message: "finished" };
      }),
      immediate("now", () => ({ verdict: "allow" })),
    ]);
    const idle = await connect(server.port);
    idle.send(postText("/validate/now", GOOD));
    await idle.until(/"allowed":true/);
    const busy = await connect(server.port);
    busy.send(postText("/validate/slow", GOOD));
    await sleep(50);
    const stopped = server.stop({ delay: 0, grace: 5000 });
    await idle.closed(1000);
    const answer = await busy.closed(1000);
    assert.match(answer, /"message":"finished"/);
    assert.match(answer, /Connection: close/);
    await stopped;
    await assert.rejects(connect(server.port), { code: "ECONNREFUSED" });
  });

  test("a request that comes on an idle or a new connection just after the stop began is answered, with Connection: close", async () => {
    const server = await serve([immediate("now", () => ({ verdict: "allow" }))]);
    const idle = await connect(server.port);
    idle.send(postText("/validate/now", GOOD));
    await idle.until(/"allowed":true/);
    const unused = await connect(server.port);
    const seen = idle.received().length;
    const stopped = server.stop({ delay: 0, grace: 5000 });
    // Past the end of accepting.
    await sleep(30);
    for (const client of [idle, unused]) client.send(postText("/validate/now", GOOD));
    for (const [client, from] of [
      [idle, seen],
      [unused, 0],
    ] as const) {
      const answer = (await client.closed(5000)).slice(from);
      assert.match(answer, /Connection: close/);
      assert.match(answer, /"allowed":true/);
    }
    await stopped;
  });

  test("connections that wait to be accepted when the stop begins are answered", async () => {
    const server = await serve([immediate("now", () => ({ verdict: "allow" }))]);
    // The system has accepted them when they are called connected here; this process may not have.
    const clients = Array.from({ length: 30 }, () => connect(server.port));
    const first = await Promise.race(clients);
    const stopped = server.stop({ delay: 0, grace: 5000 });
    first.send(postText("/validate/now", GOOD));
    for (const client of clients) {
      const connection = await client;
      if (connection !== first) connection.send(postText("/validate/now", GOOD));
    }
    for (const client of clients) assert.match(await (await client).closed(5000), /"allowed":true/);
    await stopped;
  });

  test("a connection that stays silent is closed on this side first, and for good soon after", async () => {
    const server = await serve([]);
    const silent = net.connect({ port: server.port, host: "127.0.0.1", allowHalfOpen: true });
    await once(silent, "connect");
    let ended = false;
    silent.resume().on("end", () => {
      ended = true;
    });
    await server.stop({ delay: 0, grace: 20_000 });
    assert.equal(ended, true);
    silent.destroy();
  });

  test("during the delay readiness fails while requests are still served", async () => {
    const server = await serve([immediate("now", () => ({ verdict: "allow" }))]);
    const stopped = server.stop({ delay: 300, grace: 1000 });
    assert.equal((await fetch(`${server.probes}/readiness`)).status, 503);
    assert.equal((await fetch(`${server.probes}/liveness`)).status, 200);
    const response = await post(`${server.url}/validate/now`, GOOD);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("connection"), "close");
    await stopped;
  });

  test("the grace time bounds the wait for a request that never ends", async () => {
    const server = await serve([entry("never", () => new Promise(() => {}))], {
      evaluation: { policyTimeout: 3000 },
    });
    const client = await connect(server.port);
    client.send(postText("/validate/never", GOOD));
    await sleep(50);
    const started = performance.now();
    await server.stop({ delay: 0, grace: 150 });
    const took = performance.now() - started;
    assert.ok(took >= 140 && took < 2000, `${took} ms`);
    await client.closed();
  });

  test("a second stop ends the delay of the first one", async () => {
    const server = await serve([immediate("now", () => ({ verdict: "allow" }))]);
    const client = await connect(server.port);
    const first = server.stop({ delay: 60_000, grace: 60_000 });
    await server.stop({ delay: 0, grace: 0 });
    assert.equal(
      await Promise.race([first.then(() => "stopped"), sleep(5000, "still serving", { ref: false })]),
      "stopped",
    );
    await client.closed();
  });

  test("a second stop cuts what is left", async () => {
    const server = await serve([entry("never", () => new Promise(() => {}))], {
      evaluation: { policyTimeout: 3000 },
    });
    const client = await connect(server.port);
    client.send(postText("/validate/never", GOOD));
    await sleep(50);
    const first = server.stop({ delay: 0, grace: 3000 });
    await server.stop({ delay: 0, grace: 0 });
    await first;
    await client.closed();
  });
});
