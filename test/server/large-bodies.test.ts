/** Large bodies take their turn on the main thread; the turns are given by the test. */
import assert from "node:assert/strict";
import { afterEach, describe, mock, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Outcome } from "../../src/policy/outcome.js";
import type { Turns } from "../../src/policy/turns.js";
import { LARGE_BODY, LargeBodies, MAX_WAITING_BODIES } from "../../src/server/large-bodies.js";
import { until } from "../support/until.js";
import { admissionReview, immediate, post, serve, type TestServer } from "./fake-policy.js";
import { connect, postText, type RawClient } from "./raw-client.js";

const ALLOW: Outcome = { verdict: "allow" };
const SMALL = JSON.stringify(admissionReview());
const LARGE = JSON.stringify(admissionReview({ object: { data: "x".repeat(LARGE_BODY) } }));

/** A server whose turns wait for the test, and the number of times that its policy was asked. */
async function held() {
  const asked = { times: 0 };
  const allow = (): Outcome => {
    asked.times += 1;
    return ALLOW;
  };
  const server = await serve([immediate("p", allow)]);
  const turns: (() => void)[] = [];
  mock.method(server.evaluator.turns, "next", () => new Promise<void>((resolve) => void turns.push(resolve)));
  return { server, turns, asked };
}

async function answered(server: TestServer, status: number): Promise<number> {
  const text = (await server.metrics.text()).join("");
  return Number(
    new RegExp(`http_request_seconds_count\\{route="validate",status="${status}"\\} (\\d+)`).exec(text)?.[1] ?? 0,
  );
}

describe("a large body", () => {
  afterEach(() => mock.restoreAll());

  test("waits for a turn to be read, and for another before its policy is asked; small ones don't", async () => {
    const { server, turns, asked } = await held();
    const large = post(`${server.url}/validate/p`, LARGE);
    await until("the large body", () => turns.length === 1);
    assert.equal((await post(`${server.url}/validate/p`, SMALL)).status, 200);
    assert.equal(asked.times, 1);
    turns[0]?.();
    await until("its second turn", () => turns.length === 2);
    assert.equal(asked.times, 1);
    turns[1]?.();
    assert.equal((await large).status, 200);
    assert.equal(asked.times, 2);
    await server.stop({ delay: 0, grace: 0 });
  });

  test("is not read once its client has gone", async () => {
    const { server, turns, asked } = await held();
    const client = await connect(server.port);
    // What can't be read is refused: it is only not, when nobody looks at it.
    client.send(postText("/validate/p", "x".repeat(LARGE_BODY)));
    await until("the large body", () => turns.length === 1);
    client.destroy();
    // The server has seen it when it no longer has the connection; requests on others come after that.
    await until("the client's end", async () => {
      await sleep(50);
      return (await post(`${server.url}/validate/p`, SMALL)).ok;
    });
    turns[0]?.();
    await until("the count", async () => (await answered(server, 499)) === 1);
    assert.equal(await answered(server, 400), 0);
    assert.equal(asked.times, 1);
    await server.stop({ delay: 0, grace: 0 });
  });

  test("counts among those that wait until it has been read to its end", async () => {
    const turns: (() => void)[] = [];
    const bodies = new LargeBodies({
      next: () => new Promise<void>((resolve) => void turns.push(resolve)),
    } as unknown as Turns);
    const places = Array.from({ length: MAX_WAITING_BODIES }, () => bodies.wait());
    turns[0]?.();
    const read = await places[0];
    assert.equal(bodies.wait(), undefined);
    read?.();
    assert.ok(bodies.wait());
    assert.equal(bodies.wait(), undefined);
  });

  test("is refused with 429 when too many wait", async (t) => {
    const { server, turns } = await held();
    t.after(() => server.stop({ delay: 0, grace: 0 }));
    const clients: RawClient[] = [];
    for (let i = 0; i < MAX_WAITING_BODIES; i++) {
      const client = await connect(server.port);
      client.send(postText("/validate/p", LARGE));
      clients.push(client);
    }
    await until("all of them", () => turns.length === MAX_WAITING_BODIES);
    assert.equal((await post(`${server.url}/validate/p`, LARGE)).status, 429);
    turns[0]?.();
    await until("its second turn", () => turns.length === MAX_WAITING_BODIES + 1);
    turns.at(-1)?.();
    // Whose came first is not known.
    await until("its answer", () => clients.some((client) => /"allowed":true/.test(client.received())));
    const next = post(`${server.url}/validate/p`, LARGE);
    await until("the next one", () => turns.length === MAX_WAITING_BODIES + 2);
    for (const client of clients) client.destroy();
    turns.at(-1)?.();
    await until("its second turn", () => turns.length === MAX_WAITING_BODIES + 3);
    turns.at(-1)?.();
    assert.equal((await next).status, 200);
  });
});
