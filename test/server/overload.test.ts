import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Outcome } from "../../src/policy/outcome.js";
import { createPolicySet } from "../../src/policy/served/policy-set.js";
import { Gate, type Refusal } from "../../src/server/gate.js";
import { event, until } from "../support/until.js";
import { admissionReview, entry, immediate, post, serve, type TestServer } from "./fake-policy.js";
import { connect, postText } from "./raw-client.js";

const GOOD = admissionReview();
const ALLOW: Outcome = { verdict: "allow" };

/** Waits until so many requests are in line. */
const inLine = (server: TestServer, count: number): Promise<void> =>
  until("the line", async () =>
    (await server.metrics.text()).join("").includes(`policy_server_requests_queued ${count}\n`),
  );

/** A policy that answers when it is told to, and all its requests at the same time. */
function held() {
  const [asked, outcome] = [event(), event<Outcome>()];
  const policy = entry("held", () => {
    asked.come();
    return outcome.came;
  });
  return { policy, asked: asked.came, answer: () => outcome.come(ALLOW) };
}

test("connections beyond the limit are closed, and the log says so once", async () => {
  const server = await serve([immediate("p", () => ALLOW)], { maxConnections: 2 });
  const kept = [await connect(server.port), await connect(server.port)];
  for (let i = 0; i < 3; i++) await (await connect(server.port)).closed();
  for (const client of kept) {
    client.send(postText("/validate/p", JSON.stringify(GOOD)));
    await client.until(/"allowed":true/);
  }
  const told = server.lines.filter((line) => line.includes("connections can't be accepted: 2 are open"));
  assert.equal(told.length, 1);
  await server.stop({ delay: 0, grace: 0 });
});

test("an answer that is in time when it is reached, but not when it is sent, is a time-out for the client and for the record", async () => {
  let now = 0;
  const slowlySent = {
    ...immediate("p", () => ALLOW),
    // Looked at when the outcome becomes a verdict: from then on it waits to be sent.
    get mode() {
      now = 5000;
      return "protect" as const;
    },
  };
  const server = await serve([slowlySent], { evaluation: { policyTimeout: 2000, now: () => now } });
  const answer = await post(`${server.url}/validate/p`, GOOD);
  assert.equal(((await answer.json()) as { response: { allowed: boolean } }).response.allowed, false);
  await server.stop({ delay: 0, grace: 0 });
  const record = server.lines.find((line) => line.includes('"policy_id":"p"')) ?? "";
  assert.match(record, /"allowed":false/);
  assert.match(record, /"failure":"timeout"/);
});

test("a request whose verdict cannot be made has an answer that allows nothing, and takes no other with it", async () => {
  const broken = {
    ...immediate("broken", () => ALLOW),
    get mode(): "protect" {
      throw new Error("a defect");
    },
  };
  const server = await serve([broken, immediate("good", () => ALLOW)]);
  const clients = [await connect(server.port), await connect(server.port)];
  clients[0]?.send(postText("/validate/broken", JSON.stringify(GOOD)));
  clients[1]?.send(postText("/validate/good", JSON.stringify(GOOD)));
  assert.match((await clients[0]?.until(/\r\n\r\n.+/s)) ?? "", /^HTTP\/1\.1 500 /);
  assert.match((await clients[1]?.until(/"allowed":/)) ?? "", /"allowed":true/);
  assert.match(server.lines.join("\n"), /answering a request failed unexpectedly.*a defect/);
  await server.stop({ delay: 0, grace: 0 });
});

describe("limits on what is evaluated at a time", () => {
  test("beyond places and queue: 429 with Retry-After and a clear message; those that wait are answered", async () => {
    const { policy, answer } = held();
    const server = await serve([policy], { gate: { concurrency: 2, queue: 2 } });
    const waiting = Array.from({ length: 3 }, () => post(`${server.url}/validate/held`, GOOD));
    await inLine(server, 2);
    const refused = await post(`${server.url}/validate/held`, GOOD);
    assert.equal(refused.status, 429);
    assert.equal(refused.headers.get("retry-after"), "1");
    assert.deepEqual(await refused.json(), {
      message:
        "too many requests: the policy has its part of 2 places (--max-concurrent-requests), or all are taken, and 2 wait (--max-queued-requests), try again later",
      status: 429,
    });
    assert.match((await server.metrics.text()).join(""), /policy_server_refused_requests_total\{reason="full"\} 1/);
    answer();
    for (const { status } of await Promise.all(waiting)) assert.equal(status, 200);
    await server.stop({ delay: 0, grace: 0 });
  });

  test("who waits longer than the caller does is refused in time with 503", async () => {
    const { policy, asked } = held();
    const server = await serve([policy], { gate: { concurrency: 1, queue: 10 } });
    const first = post(`${server.url}/validate/held`, GOOD).catch(() => undefined);
    await asked;
    const late = await post(`${server.url}/validate/held?timeout=200ms`, GOOD);
    assert.equal(late.status, 503);
    assert.match(await late.text(), /for lack of 1 places \(--max-concurrent-requests\)/);
    await server.stop({ delay: 0, grace: 0 });
    await first;
  });

  test("who waits in the queue finishes on the set of policies it began with", async () => {
    const { policy, asked, answer } = held();
    const server = await serve([policy], { gate: { concurrency: 1, queue: 1 } });
    const first = post(`${server.url}/validate/held`, GOOD);
    await asked;
    const queued = post(`${server.url}/validate/held`, GOOD);
    await inLine(server, 1);
    server.evaluator.use(createPolicySet([immediate("other", () => ALLOW)], 2));
    assert.equal((await post(`${server.url}/validate/held`, GOOD)).status, 404);
    answer();
    for (const answered of await Promise.all([first, queued])) {
      const { response } = (await answered.json()) as { response: { allowed: boolean } };
      assert.deepEqual([answered.status, response.allowed], [200, true]);
    }
    await server.stop({ delay: 0, grace: 0 });
  });

  test("a place is given back also by a policy that answers at once although it usually does not", async () => {
    const atOnce = immediate("p", () => ALLOW);
    const policy = { ...atOnce.policy, immediate: false };
    const server = await serve([{ ...atOnce, policy }], { gate: { concurrency: 1, queue: 0 } });
    for (let i = 0; i < 3; i++) assert.equal((await post(`${server.url}/validate/p`, GOOD)).status, 200);
    await server.stop({ delay: 0, grace: 0 });
  });

  test("who leaves the queue makes room", async () => {
    const { policy, asked, answer } = held();
    const server = await serve([policy], { gate: { concurrency: 1, queue: 1 } });
    const first = post(`${server.url}/validate/held`, GOOD);
    await asked;
    const leaving = await connect(server.port);
    leaving.send(postText("/validate/held", JSON.stringify(GOOD)));
    await inLine(server, 1);
    assert.equal((await post(`${server.url}/validate/held`, GOOD)).status, 429);
    leaving.destroy();
    await inLine(server, 0);
    const next = post(`${server.url}/validate/held`, GOOD);
    await inLine(server, 1);
    answer();
    assert.deepEqual([(await first).status, (await next).status], [200, 200]);
    await server.stop({ delay: 0, grace: 0 });
  });

  test("the caller's timeout bounds the evaluation", async () => {
    const server = await serve([entry("never", () => new Promise(() => {}))]);
    const started = performance.now();
    const response = await post(`${server.url}/validate/never?timeout=300ms`, GOOD);
    assert.match(await response.text(), /exceeded the allowed execution time/);
    assert.ok(performance.now() - started > 200);
    await server.stop({ delay: 0, grace: 0 });
  });

  test("while one policy holds its places others still answer", async () => {
    const server = await serve(
      [entry("loop", () => new Promise(() => {})), entry("good", () => ALLOW), immediate("now", () => ALLOW)],
      {
        gate: { concurrency: 4, queue: 100, queueTimeout: 600_000 },
      },
    );
    const loops = Array.from({ length: 20 }, () => post(`${server.url}/validate/loop`, GOOD).catch(() => undefined));
    await inLine(server, 18);
    for (const id of ["good", "now", "good"])
      assert.equal((await post(`${server.url}/validate/${id}`, GOOD)).status, 200);
    await inLine(server, 18);
    await server.stop({ delay: 0, grace: 0 });
    await Promise.all(loops);
  });

  test("the gate is fair, shared by half, and forgets what has left", () => {
    const log: string[] = [];
    const gate = new Gate({ concurrency: 4, queue: 3, queueTimeout: 1000 });
    const ask = (policy: string, name: string): (() => void) | undefined =>
      gate.admit({
        policy,
        deadline: Number.POSITIVE_INFINITY,
        enter: () => log.push(`${name} in`),
        refuse: (why: Refusal) => log.push(`${name} ${why}`),
      });
    for (const name of ["a1", "a2", "a3"]) ask("a", name);
    ask("b", "b1");
    ask("b", "b2");
    ask("c", "c1");
    ask("c", "c2");
    ask("c", "c3");
    assert.deepEqual(log, ["a1 in", "a2 in", "b1 in", "b2 in", "c3 full"]);
    gate.leave("b");
    assert.equal(log.at(-1), "c1 in");
    gate.leave("a");
    assert.equal(log.at(-1), "a3 in");
    gate.leave("a");
    gate.leave("b");
    assert.equal(log.at(-1), "c2 in");
    for (const policy of ["a", "c", "c"]) gate.leave(policy);
    assert.equal(gate.busy, 0);
    assert.equal(gate.waiting, 0);
  });
});
