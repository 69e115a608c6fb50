/** Bodies whose ends have not come. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { BodyMemory, bodyShare } from "../../src/server/body-memory.js";
import { until } from "../support/until.js";
import { admissionReview, immediate, post, serve } from "./fake-policy.js";
import { connect, postText, type RawClient } from "./raw-client.js";

const MIB = 1024 * 1024;

describe("the memory of unfinished bodies", () => {
  test("is a part of what the server may use, shared by its processes, and has room for two of the largest", () => {
    assert.equal(bodyShare(256 * MIB, 1, 2 * MIB), 32 * MIB);
    assert.equal(bodyShare(256 * MIB, 4, 2 * MIB), 8 * MIB);
    assert.equal(bodyShare(1024 * 1024 * MIB, 2, 2 * MIB), 48 * MIB, "however much there is");
    assert.equal(bodyShare(64 * MIB, 8, 2 * MIB), 4 * MIB);
    assert.equal(bodyShare(64 * MIB, 1, 50 * MIB), 100 * MIB);
  });

  test("has room for a small one beside any number of large ones, up to twice the share", () => {
    const memory = new BodyMemory(1000);
    const large = Array.from({ length: 10 }, () => memory.begin());
    for (const body of large) assert.ok(body.grow(100));
    const small = memory.begin();
    assert.ok(small.grow(50));
    assert.ok(large[0]?.grow(1) === false, "one that has more than its part goes");
    let refused = 0;
    for (let i = 0; i < 10_000; i++) {
      const body = memory.begin();
      if (body.grow(5 + (i % 50))) continue;
      // What is refused gives up what it has.
      body.leave();
      refused += 1;
    }
    assert.ok(memory.bytes <= 2000, `${memory.bytes} bytes`);
    assert.ok(refused > 0);
  });

  test("is given back once by each", () => {
    const memory = new BodyMemory(1000);
    const bodies = [memory.begin(), memory.begin()];
    for (const body of bodies) body.grow(300);
    bodies[0]?.leave();
    bodies[0]?.leave();
    assert.equal(memory.bytes, 300);
    bodies[1]?.leave();
    assert.equal(memory.bytes, 0);
    assert.ok(memory.begin().grow(1000));
  });
});

test("large bodies beyond the share get 429 and their connection closes; small ones are answered, and large ones again when it is free", async () => {
  const server = await serve([immediate("now", () => ({ verdict: "allow" }))], { bodyMemory: 300_000 });
  const body = JSON.stringify(admissionReview({ object: { pad: "x".repeat(150_000) } }));
  const unfinished = postText("/validate/now", body).slice(0, -1);
  const clients: RawClient[] = [];
  for (let i = 0; i < 4; i++) {
    const client = await connect(server.port);
    client.send(unfinished);
    clients.push(client);
  }
  const answers = (): string[] => clients.map((client) => client.received()).filter((text) => text !== "");
  await until("the answers", () => answers().length >= 2);
  await sleep(50);
  // Together they have 600,000 bytes: how many of them go depends on how they come.
  assert.ok(answers().length < clients.length);
  for (const answer of answers()) {
    assert.match(answer, /^HTTP\/1\.1 429 [\s\S]*\r\nConnection: close\r\n/);
    assert.match(answer, /\r\nRetry-After: 1\r\n/);
    assert.match(answer, /\{"message":"[^"]*large[^"]*","status":429\}$/);
  }
  assert.equal((await post(`${server.url}/validate/now`, admissionReview())).status, 200);
  assert.equal((await post(`${server.url}/validate/now`, body)).status, 429);
  // One that goes away gives its part back as one does whose end comes.
  const [ends, ...go] = clients.filter((client) => client.received() === "");
  ends?.send("}");
  await ends?.until(/"allowed":true/);
  for (const client of go) client.destroy();
  await until("their part", async () => (await post(`${server.url}/validate/now`, body)).status === 200);
  assert.match((await server.metrics.text()).join(""), /refused_requests_total\{reason="full"\} [1-9]/);
  for (const client of clients) client.destroy();
  await server.stop({ delay: 0, grace: 0 });
});
