import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Outcome } from "../../src/policy/outcome.js";
import { type PhasedRequest, Phases } from "../../src/server/phases.js";
import { until } from "../support/until.js";
import { admissionReview, entry, immediate, post, serve, type TestServer } from "./fake-policy.js";
import { connect, postText } from "./raw-client.js";

const GOOD = JSON.stringify(admissionReview());
const ALLOW: Outcome = { verdict: "allow" };

async function counted(server: TestServer): Promise<string> {
  const text = (await server.metrics.text()).join("");
  return text
    .split("\n")
    .filter((line) => /_total\{|_request_seconds_count|in_flight [0-9]|queued [0-9]/.test(line))
    .join("\n");
}

describe("a client that hangs up before it has an answer", () => {
  for (const mode of ["protect", "monitor"] as const) {
    test(`in ${mode} mode: its policy is told to stop, its place is free, and no acceptance is recorded`, async () => {
      let answer: (outcome: Outcome) => void = () => {};
      let signal: AbortSignal | undefined;
      const policy = entry(
        "p",
        (_review, context) => {
          signal = context.signal;
          return new Promise((resolve) => {
            answer = resolve;
          });
        },
        { mode },
      );
      const server = await serve([policy], { evaluation: { policyTimeout: Number.POSITIVE_INFINITY } });
      const client = await connect(server.port);
      client.send(postText("/validate/p", GOOD));
      await until("the evaluation", () => signal !== undefined);
      client.destroy();
      await until("the end of the evaluation", () => signal?.aborted === true);
      await until("the record", () => server.lines.length > 0);
      answer(ALLOW);
      await sleep(20);
      const [line, ...more] = server.lines;
      assert.deepEqual(more, []);
      const { level, fields } = JSON.parse(line ?? "");
      const { allowed, outcome, failure, response_code: code } = fields;
      assert.deepEqual(
        { level, allowed, outcome, failure, code },
        { level: "WARN", allowed: false, outcome: "error", failure: "abandoned", code: 499 },
      );
      const metrics = await counted(server);
      assert.match(metrics, /evaluations_total\{.*accepted="false".*error_code="499"\} 1/);
      assert.match(metrics, /failures_total\{policy_name="p",cause="abandoned"\} 1/);
      assert.match(metrics, /http_request_seconds_count\{route="validate",status="499"\} 1/);
      assert.match(metrics, /requests_in_flight 0/);
      assert.doesNotMatch(metrics, /accepted="true"|status="200"/);
      await server.stop({ delay: 0, grace: 0 });
    });
  }

  test("in line: it is counted, and its policy is never asked", async (t) => {
    const { policy, asked, answerNext } = held();
    const server = await serve([policy], { gate: { concurrency: 1, queue: 1 } });
    // Also where it fails: a server that listens keeps the process.
    t.after(() => server.stop({ delay: 0, grace: 0 }));
    const first = post(`${server.url}/validate/slow`, GOOD);
    await until("the first", () => asked() === 1);
    const leaving = await connect(server.port);
    leaving.send(postText("/validate/slow", GOOD));
    await until("the line", async () => /queued 1/.test(await counted(server)));
    leaving.destroy();
    await until("the count", async () => /status="499"\} 1/.test(await counted(server)));
    answerNext();
    await first;
    await until("the record", () => server.lines.length > 0);
    assert.equal(asked(), 1);
    assert.equal(server.lines.length, 1);
    assert.match(await counted(server), /queued 0/);
  });

  test("between the reading of its request and the asking of its policy: it is counted, and its policy is never asked", async (t) => {
    let asked = 0;
    const policy = immediate("p", () => {
      asked += 1;
      return ALLOW;
    });
    const server = await serve([policy]);
    t.after(() => server.stop({ delay: 0, grace: 0 }));
    const read: PhasedRequest[] = [];
    const asking = t.mock.method(Phases.prototype, "ask", (request: PhasedRequest) => void read.push(request));
    const leaving = await connect(server.port);
    leaving.send(postText("/validate/p", GOOD));
    await until("the reading", () => read.length === 1);
    leaving.destroy();
    asking.mock.restore();
    // Its end has been seen when others that came behind it are answered.
    await until("its end", async () => {
      await sleep(20);
      return (await post(`${server.url}/validate/p`, GOOD)).ok;
    });
    const others = asked;
    read[0]?.ask();
    await until("the count", async () => /status="499"\} 1/.test(await counted(server)));
    assert.equal(asked, others);
    assert.equal(server.lines.length, others);
  });

  test("once it waited in line and was let in, it is counted once", async (t) => {
    const { policy, asked, answerNext } = held();
    const server = await serve([policy], { gate: { concurrency: 1, queue: 1 } });
    t.after(() => server.stop({ delay: 0, grace: 0 }));
    const first = post(`${server.url}/validate/slow`, GOOD);
    await until("the first", () => asked() === 1);
    const leaving = await connect(server.port);
    leaving.send(postText("/validate/slow", GOOD));
    await until("the line", async () => /queued 1/.test(await counted(server)));
    answerNext();
    await first;
    await until("the second", () => asked() === 2);
    leaving.destroy();
    await until("the record", () => server.lines.length === 2);
    assert.match(await counted(server), /status="499"\} 1/);
    assert.match(server.lines[1] ?? "", /"failure":"abandoned"/);
    answerNext();
  });
});

/** A policy that answers when it is told to. */
function held() {
  const waiting: ((outcome: Outcome) => void)[] = [];
  let asked = 0;
  const policy = entry("slow", () => {
    asked += 1;
    return new Promise<Outcome>((resolve) => waiting.push(resolve));
  });
  return { policy, asked: () => asked, answerNext: () => waiting.shift()?.(ALLOW) };
}
