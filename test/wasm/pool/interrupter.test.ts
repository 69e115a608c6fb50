/** The interrupter against an inspector that the test plays: what it asks, and when it says that a thread's guest has ended. */
import assert from "node:assert/strict";
import { Session } from "node:inspector";
import { describe, type TestContext, test } from "node:test";
import { Interrupter } from "../../../src/wasm/pool/interrupter.js";

interface Request {
  readonly sessionId: string;
  readonly id: number;
  readonly method: string;
}

async function opened(t: TestContext) {
  let session: Session | undefined;
  const requests: Request[] = [];
  t.mock.method(Session.prototype, "connect", function (this: Session) {
    session = this;
  });
  t.mock.method(Session.prototype, "post", (method: string, { sessionId, message }: Record<string, string>) => {
    if (method === "NodeWorker.sendMessageToWorker")
      requests.push({ sessionId, ...JSON.parse(message ?? "") } as Request);
  });
  const interrupter = await Interrupter.open();
  assert.ok(interrupter && session);
  const emit = (event: string, params: object) => session?.emit(event, { params });
  const attach = (thread: number) =>
    emit("NodeWorker.attachedToWorker", { sessionId: `s${thread}`, workerInfo: { title: `[worker ${thread}]` } });
  const answer = ({ sessionId, id }: Request) =>
    emit("NodeWorker.receivedMessageFromWorker", { sessionId, message: JSON.stringify({ id, result: {} }) });
  return { interrupter, requests, emit, attach, answer };
}

describe("the interrupter", () => {
  test("is one for all pools of the process: enabling it again while threads end would crash the engine", async (t) => {
    const open = t.mock.method(Interrupter, "open");
    assert.equal(await Interrupter.get(), await Interrupter.get());
    assert.equal(open.mock.callCount(), 1);
  });

  test("asks for the end of what a thread runs, and tells of it once, after what the main thread is at", async (t) => {
    const { interrupter, requests, attach, answer } = await opened(t);
    attach(3);
    attach(7);
    let done = 0;
    assert.equal(
      interrupter.interrupt(7, () => done++),
      true,
    );
    const [request] = requests;
    assert.ok(request);
    assert.deepEqual([request.sessionId, request.method], ["s7", "Runtime.terminateExecution"]);
    // The engine can bring the answer in the middle of any JavaScript.
    answer(request);
    assert.equal(done, 0);
    answer(request);
    await new Promise(setImmediate);
    assert.equal(done, 1);
  });

  test("can't reach a thread that it does not know, or that has ended", async (t) => {
    const { interrupter, requests, attach, emit } = await opened(t);
    assert.equal(interrupter.interrupt(7, assert.fail), false);
    attach(7);
    emit("NodeWorker.detachedFromWorker", { sessionId: "s7" });
    assert.equal(interrupter.interrupt(7, assert.fail), false);
    assert.deepEqual(requests, []);
  });

  test("does not tell of a thread that was forgotten, and tells of the others", async (t) => {
    const { interrupter, requests, attach, answer } = await opened(t);
    attach(3);
    attach(7);
    const told: number[] = [];
    for (const thread of [3, 7]) interrupter.interrupt(thread, () => told.push(thread));
    interrupter.forget(3);
    requests.forEach(answer);
    await new Promise(setImmediate);
    assert.deepEqual(told, [7]);
  });
});
