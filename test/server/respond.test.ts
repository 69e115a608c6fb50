import assert from "node:assert/strict";
import { test } from "node:test";
import { admissionReview, immediate, post, serve } from "./fake-policy.js";
import { connect, postText } from "./raw-client.js";

const GOOD = JSON.stringify(admissionReview());

test("answers are whole, whatever their letters, also behind each other on one connection and when they are large", async () => {
  const texts = { ascii: "no", wide: "nein, grün ist nötig 😀 ✓", latin: "né", large: "é✓x".repeat(300_000) };
  const server = await serve(
    Object.entries(texts).map(([id, message]) => immediate(id, () => ({ verdict: "deny", message }))),
  );
  try {
    for (const [id, message] of Object.entries(texts)) {
      const response = await post(`${server.url}/validate/${id}`, GOOD);
      const body = await response.text();
      assert.equal(response.headers.get("content-length"), String(Buffer.byteLength(body)));
      assert.equal(
        (JSON.parse(body) as { response: { status: { message: string } } }).response.status.message,
        message,
      );
    }
    // The second comes while the first has no answer yet.
    const client = await connect(server.port);
    client.send(postText("/validate/wide", GOOD) + postText("/validate/latin", GOOD));
    const received = Buffer.from(await client.until(/n\u00c3\u00a9[\s\S]*\}\}$/), "latin1").toString();
    assert.match(received, /^HTTP\/1\.1 200 [\s\S]*nein, grün ist nötig 😀 ✓[\s\S]*HTTP\/1\.1 200 [\s\S]*"né"/);
    client.destroy();
  } finally {
    await server.stop({ delay: 0, grace: 0 });
  }
});
