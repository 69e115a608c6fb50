import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { ThreadPlayground } from "../../src/page/play/thread-playground.js";

/** A thread that does what the draft says. */
const SCRIPT = `
import { parentPort } from "node:worker_threads";
let asked = 0;
parentPort.on("message", ({ id, kind, args: [question] }) => {
  asked += 1;
  const text = question.draft?.text;
  if (text === "loop") for (;;);
  if (text === "end") process.exit(1);
  if (text === "throw") throw new Error("secret");
  parentPort.postMessage(text === "refused" ? { id, error: "no", status: 418 } : { id, answer: { asked, kind } });
});`;

describe("a playground in a thread", () => {
  const playground = new ThreadPlayground(
    new URL(`data:text/javascript,${encodeURIComponent(SCRIPT)}`),
    undefined,
    2_000,
  );
  after(() => playground.close());
  const check = (text: string) => playground.check({ draft: { kind: "entry", text } }, 1);

  test("what it answers and refuses comes back", async () => {
    assert.deepEqual(await check("a"), { asked: 1, kind: "check" });
    await assert.rejects(check("refused"), { status: 418, message: "no" });
    assert.deepEqual(await playground.sources(1), { asked: 3, kind: "sources" });
  });

  for (const [what, status, message] of [
    ["loop", 504, /no answer within 2 s/],
    ["end", 500, /has ended/],
    ["throw", 500, /has failed/],
  ] as const) {
    test(`a thread that dies of a draft (${what}) is told of, and another one goes on`, async () => {
      await assert.rejects(check(what), (error: Error & { status: number }) => {
        assert.match(error.message, message);
        assert.doesNotMatch(error.message, /secret/);
        return [status, 504].includes(error.status);
      });
      assert.deepEqual(await check("a"), { asked: 1, kind: "check" });
    });
  }

  test("who waits when the server stops is refused", async () => {
    const refused = assert.rejects(check("loop"), { status: 503 });
    await playground.close();
    await refused;
  });
});
