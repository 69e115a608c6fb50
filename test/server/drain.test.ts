import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { admissionReview, entry, immediate, post, serve } from "./fake-policy.js";
import { connect, postText } from "./raw-client.js";

const GOOD = JSON.stringify(admissionReview());

describe("stopping", () => {
  test("requests under way are answered, with Connection: close; idle connections are closed; new ones refused", async () => {
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
