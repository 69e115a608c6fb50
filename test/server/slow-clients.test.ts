import assert from "node:assert/strict";
import { test } from "node:test";
import { admissionReview, immediate, post, serve } from "./fake-policy.js";
import { connect, postText } from "./raw-client.js";

test("clients that send half of the headers, or nothing, are cut after 10 seconds; others are answered meanwhile", async () => {
  const server = await serve([immediate("now", () => ({ verdict: "allow" }))]);
  const text = postText("/validate/now", JSON.stringify(admissionReview()));
  const [half, silent, trickling] = await Promise.all([
    connect(server.port),
    connect(server.port),
    connect(server.port),
  ]);
  half.send(text.slice(0, 40));
  let sent = 0;
  const trickle = setInterval(() => trickling.send(text.slice(sent, ++sent)), 200);
  const started = performance.now();
  // Node's own limit is beyond what is waited for here.
  const cut = Promise.all([half.closed(), silent.closed(), trickling.closed()]);
  assert.equal((await post(`${server.url}/validate/now`, admissionReview())).status, 200);
  const [answer] = await cut;
  clearInterval(trickle);
  assert.ok(performance.now() - started > 8000);
  assert.match(answer, /^HTTP\/1\.1 408/);
  await server.stop({ delay: 0, grace: 0 });
});
