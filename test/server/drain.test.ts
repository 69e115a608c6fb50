import assert from "node:assert/strict";
import { once } from "node:events";
import net from "node:net";
import { describe, test } from "node:test";
import type { Outcome } from "../../src/policy/outcome.js";
import { SILENT_MS } from "../../src/server/drain.js";
import { TestClock } from "../support/test-clock.js";
import { event } from "../support/until.js";
import { admissionReview, entry, immediate, post, serve } from "./fake-policy.js";
import { connect, postText } from "./raw-client.js";
import { passTime } from "./stop-time.js";

const GOOD = JSON.stringify(admissionReview());
/** Milliseconds in which all connections that stay silent are closed. */
const ALL_SILENT_MS = 1500;

/** A policy that answers when it is told to, and tells when it is asked. */
function held() {
  const [asked, outcome] = [event(), event<Outcome>()];
  const decide = (): Promise<Outcome> => {
    asked.come();
    return outcome.came;
  };
  return { asked: asked.came, decide, answer: outcome.come };
}

describe("stopping", () => {
  test("requests under way are answered, with Connection: close; silent connections are closed; new ones refused", async () => {
    const clock = new TestClock();
    const slow = held();
    const server = await serve([entry("slow", slow.decide), immediate("now", () => ({ verdict: "allow" }))], {
      clock,
    });
    const idle = await connect(server.port);
    idle.send(postText("/validate/now", GOOD));
    await idle.until(/"allowed":true/);
    const busy = await connect(server.port);
    busy.send(postText("/validate/slow", GOOD));
    await slow.asked;
    const stopped = server.stop({ delay: 0, grace: 5000 });
    await passTime(clock, ALL_SILENT_MS);
    await idle.closed();
    slow.answer({ verdict: "deny", message: "finished" });
    const answer = await busy.closed();
    assert.match(answer, /"message":"finished"/);
    assert.match(answer, /Connection: close/);
    await stopped;
    await assert.rejects(connect(server.port), { code: "ECONNREFUSED" });
  });

  test("a request that comes on an idle or a new connection just after the stop began is answered, with Connection: close", async () => {
    const clock = new TestClock();
    const server = await serve([immediate("now", () => ({ verdict: "allow" }))], { clock });
    const idle = await connect(server.port);
    idle.send(postText("/validate/now", GOOD));
    await idle.until(/"allowed":true/);
    const unused = await connect(server.port);
    const seen = idle.received().length;
    const stopped = server.stop({ delay: 0, grace: 5000 });
    // Past the end of accepting, and before they count as silent.
    await passTime(clock, SILENT_MS);
    for (const client of [idle, unused]) client.send(postText("/validate/now", GOOD));
    for (const [client, from] of [
      [idle, seen],
      [unused, 0],
    ] as const) {
      const answer = (await client.closed()).slice(from);
      assert.match(answer, /Connection: close/);
      assert.match(answer, /"allowed":true/);
    }
    await stopped;
  });

  test("connections that wait to be accepted when the stop begins are answered", async () => {
    const clock = new TestClock();
    const server = await serve([immediate("now", () => ({ verdict: "allow" }))], { clock });
    // The system has accepted them when they are called connected here; this process may not have.
    const clients = Array.from({ length: 30 }, () => connect(server.port));
    const first = await Promise.race(clients);
    const stopped = server.stop({ delay: 0, grace: 5000 });
    first.send(postText("/validate/now", GOOD));
    const sent = Promise.all(
      clients.map(async (client) => {
        const connection = await client;
        if (connection !== first) connection.send(postText("/validate/now", GOOD));
        return connection;
      }),
    );
    await passTime(clock, 300);
    for (const client of await sent) assert.match(await client.closed(), /"allowed":true/);
    await stopped;
  });

  test("a connection that stays silent is closed on this side first, and for good soon after", async () => {
    const clock = new TestClock();
    const server = await serve([], { clock });
    const silent = net.connect({ port: server.port, host: "127.0.0.1", allowHalfOpen: true });
    await once(silent, "connect");
    const ended = once(silent.resume(), "end");
    let isStopped = false;
    const stopped = server.stop({ delay: 0, grace: 20_000 }).then(() => {
      isStopped = true;
    });
    await passTime(clock, 600);
    await ended;
    assert.equal(isStopped, false);
    await passTime(clock, ALL_SILENT_MS - 600);
    await stopped;
    silent.destroy();
  });

  test("during the delay readiness fails while requests are still served", async () => {
    const clock = new TestClock();
    const server = await serve([immediate("now", () => ({ verdict: "allow" }))], { clock });
    const stopped = server.stop({ delay: 300, grace: 1000 });
    await passTime(clock, 299);
    assert.equal((await fetch(`${server.probes}/readiness`)).status, 503);
    assert.equal((await fetch(`${server.probes}/liveness`)).status, 200);
    const response = await post(`${server.url}/validate/now`, GOOD);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("connection"), "close");
    await passTime(clock, 1 + ALL_SILENT_MS);
    await stopped;
  });

  test("the grace time bounds the wait for a request that never ends", async () => {
    const clock = new TestClock();
    const never = held();
    const server = await serve([entry("never", never.decide)], { clock });
    const client = await connect(server.port);
    client.send(postText("/validate/never", GOOD));
    await never.asked;
    let isStopped = false;
    const stopped = server.stop({ delay: 0, grace: 150 }).then(() => {
      isStopped = true;
    });
    await passTime(clock, 149);
    assert.equal(isStopped, false);
    await passTime(clock, 1);
    await stopped;
    await client.closed();
  });

  test("a second stop ends the delay of the first one", async () => {
    const clock = new TestClock();
    const server = await serve([immediate("now", () => ({ verdict: "allow" }))], { clock });
    const client = await connect(server.port);
    const first = server.stop({ delay: 60_000, grace: 60_000 });
    await server.stop({ delay: 0, grace: 0 });
    await first;
    await client.closed();
  });

  test("a second stop cuts what is left", async () => {
    const clock = new TestClock();
    const never = held();
    const server = await serve([entry("never", never.decide)], { clock });
    const client = await connect(server.port);
    client.send(postText("/validate/never", GOOD));
    await never.asked;
    const first = server.stop({ delay: 0, grace: 3000 });
    await server.stop({ delay: 0, grace: 0 });
    // Its answers are no longer held back; nothing else of its time passes.
    await passTime(clock, 200);
    await first;
    await client.closed();
  });
});
