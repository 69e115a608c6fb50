/** Answers that go on, in pieces that an API server, or a proxy before it, may cut as it likes. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { findConnection } from "../../../src/kubernetes/client/find-connection.js";
import { ClusterHttp } from "../../../src/kubernetes/client/http.js";
import { FakeApiServer } from "./fake-api-server.js";
import { PATIENT } from "./support.js";

/** Counts how many characters or bytes are looked at for ends of lines. */
function countSearches(context: TestContext): () => number {
  let searched = 0;
  const count = (prototype: { indexOf: unknown; readonly length: number }): void => {
    const own = prototype.indexOf as (this: { length: number }, what: unknown, from?: number) => number;
    context.mock.method(
      prototype as { indexOf: typeof own },
      "indexOf",
      function (this: { length: number }, what: unknown, from = 0) {
        const found = own.call(this, what, from);
        if (what === "\n" || what === 10) searched += (found < 0 ? this.length : found) - from;
        return found;
      },
    );
  };
  count(String.prototype as never);
  count(Buffer.prototype as never);
  return () => searched;
}

test("a line in many small pieces is searched once, and one that is too long is refused", async (context) => {
  const server = await FakeApiServer.start(context);
  const piece = "a".repeat(200);
  const pieces = 5_000;
  server.special.set("/long", (_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    for (let i = 0; i < pieces; i++) response.write(piece);
    response.write("\nü");
    response.end("\n");
  });
  server.special.set("/endless", (_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    for (let i = 0; i < 17; i++) response.write("a".repeat(1024 * 1024));
  });
  const http = new ClusterHttp(findConnection({ kubeconfig: server.kubeconfig(), env: {}, now: () => 0 }));
  context.after(() => http.close());
  const following = { silence: 10_000, opened: () => {} };
  const searched = countSearches(context);
  const lengths: number[] = [];
  for await (const line of http.lines("/long", {}, following, PATIENT)) lengths.push(line.trim().length);
  assert.deepEqual(lengths, [pieces * piece.length, 1]);
  assert.ok(searched() <= 2 * pieces * piece.length, `${searched()} for ${pieces * piece.length}`);
  await assert.rejects(async () => {
    for await (const _ of http.lines("/endless", {}, following, PATIENT)) assert.fail("no line has an end");
  }, /an event of a watch is too large/);
});
