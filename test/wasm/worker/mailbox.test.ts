/** The mailbox with both of its ends in one thread: what is put is taken, once, in order, and what does not fit goes through the port. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Delivery, MAILBOX_SLOTS, Mailbox } from "../../../src/wasm/worker/mailbox.js";

const text = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString();

function ends() {
  const main = Mailbox.create();
  const worker = new Mailbox(main.buffer);
  const put = (input: string, data?: string): number =>
    main.put(5, "validate", Buffer.from(input), data === undefined ? undefined : Buffer.from(data), () =>
      assert.fail("it fits"),
    ).ticket;
  const finish = (ticket: number, answer = "yes", messages = 0) =>
    worker.finish(ticket, { kind: "answer", text: answer }, messages, () => assert.fail("it fits"));
  return { main, worker, put, finish };
}

function content({ payload }: Delivery) {
  return { input: text(payload?.input), ...(payload?.data && { data: text(payload.data) }) };
}

describe("a worker's mailbox", () => {
  test("brings calls to the worker in order and results back", () => {
    const { main, worker, put, finish } = ends();
    const tickets = [put("first"), put('{"é→🙂":1}', "{}")];
    const [first, second] = [worker.take(), worker.take()];
    assert.ok(first && second);
    assert.deepEqual([first.ticket, second.ticket], tickets);
    assert.deepEqual([first.moduleId, first.operation], [5, "validate"]);
    assert.deepEqual([content(first), content(second)], [{ input: "first" }, { input: '{"é→🙂":1}', data: "{}" }]);
    assert.equal(worker.take(), undefined);
    assert.equal(main.collect(first.ticket, 0), undefined);
    finish(first.ticket, '{"é→🙂":2}');
    assert.deepEqual(main.collect(first.ticket, 0), { kind: "answer", text: '{"é→🙂":2}' });
    assert.equal(main.collect(first.ticket, 0), undefined);
  });

  test("has room for a few calls, and again when their results have been fetched", () => {
    const { main, worker, put, finish } = ends();
    for (let call = 0; call < MAILBOX_SLOTS; call++) put("x");
    assert.equal(main.hasRoom(), false);
    const first = worker.take();
    assert.ok(first);
    assert.equal(main.hasRoom(), false);
    finish(first.ticket);
    assert.equal(main.hasRoom(), false);
    main.collect(first.ticket, 0);
    assert.equal(main.hasRoom(), true);
  });

  test("gives back what the worker has not begun", () => {
    const { main, worker, put } = ends();
    const [first, second, third] = [put("1"), put("2"), put("3")];
    assert.equal(worker.take()?.ticket, first);
    assert.equal(main.withdraw(first), false);
    assert.equal(main.withdraw(second), true);
    assert.equal(main.withdraw(second), false);
    assert.equal(worker.take()?.ticket, third);
    assert.equal(worker.take(), undefined);
  });

  test("outlives more calls than a counter has numbers", () => {
    const { main, worker, finish } = ends();
    const nearTheEnd = 2 ** 31 - 3;
    new Int32Array(main.buffer).fill(nearTheEnd, 1, 3);
    for (let call = 0; call < 10; call++) {
      assert.ok(main.hasRoom());
      const { ticket } = main.put(1, "validate", Buffer.from(`${call}`), undefined, () => {});
      const delivery = worker.take();
      assert.ok(delivery);
      assert.deepEqual(content(delivery), { input: `${call}` });
      finish(ticket, `${call}`);
      assert.deepEqual(main.collect(ticket, 0), { kind: "answer", text: `${call}` });
    }
  });

  test("sends payloads and answers that are too large through the port", () => {
    const { main, worker } = ends();
    const announced: number[] = [];
    for (const [input, data] of [
      ["x".repeat(65_537), undefined],
      ["→".repeat(22_000), undefined],
      ["x".repeat(40_000), "y".repeat(40_000)],
    ] as const) {
      const { ticket } = main.put(
        1,
        "validate",
        Buffer.from(input),
        data === undefined ? undefined : Buffer.from(data),
        (large) => announced.push(large),
      );
      assert.equal(announced.at(-1), ticket);
      const delivery = worker.take();
      assert.equal(delivery?.payload, undefined);
      const sent: unknown[] = [];
      worker.finish(ticket, { kind: "guest-error", text: "z".repeat(16_385) }, 0, (large) => sent.push(large));
      assert.deepEqual(sent, ["z".repeat(16_385)]);
      assert.equal(main.collect(ticket, 0), undefined, "the text has not come yet");
      const arrival = main.collect(ticket, 1);
      assert.ok(arrival?.kind === "by-port");
      assert.deepEqual(arrival.result("z"), { kind: "guest-error", text: "z" });
    }
  });

  test("fills a slot to its last byte", () => {
    const { main, worker, put, finish } = ends();
    const [input, answer] = [`${"→".repeat(65_535 / 3)}x`, `${"→".repeat(16_383 / 3)}x`];
    const ticket = put(input);
    const delivery = worker.take();
    assert.ok(delivery);
    assert.equal(content(delivery).input, input);
    finish(ticket, answer);
    assert.deepEqual(main.collect(ticket, 0), { kind: "answer", text: answer });
  });

  test("tells the kinds of failures", () => {
    const { main, worker, put } = ends();
    for (const failure of [
      { kind: "guest-error", text: "e" },
      { kind: "trap", text: "t" },
      { kind: "out-of-memory", text: "m" },
      { kind: "start-failed", text: "s" },
      { kind: "limit", text: "l" },
    ] as const) {
      const ticket = put("x");
      worker.take();
      worker.finish(ticket, failure, 0, () => {});
      assert.deepEqual(main.collect(ticket, 0), failure);
    }
  });

  test("holds a result back until the call's messages have come, and signals behind them", () => {
    const { main, worker, put, finish } = ends();
    const [first, second] = [put("1"), put("2")];
    worker.take();
    worker.take();
    assert.equal(finish(first), true, "the first result is signalled");
    assert.equal(finish(second, "yes", 2), true, "so is one with messages");
    assert.ok(main.collect(first, 0));
    assert.equal(main.collect(second, 1), undefined);
    assert.ok(main.collect(second, 2));
  });

  test("signals several results once, until the main thread has looked", () => {
    const { main, worker, put, finish } = ends();
    const tickets = [put("1"), put("2"), put("3")];
    for (const _ of tickets) worker.take();
    assert.deepEqual([finish(tickets[0] ?? 0), finish(tickets[1] ?? 0)], [true, false]);
    main.acknowledge();
    assert.equal(finish(tickets[2] ?? 0), true);
  });

  test("a worker in its event loop is told with a message, once; an awake one finds its calls", () => {
    const { main, worker, put } = ends();
    put("1");
    assert.equal(main.nudge(), true);
    assert.equal(main.nudge(), false);
    worker.take();
    assert.equal(worker.leave(), true);
    assert.equal(main.put(1, "validate", Buffer.from("2"), undefined, () => {}).nudge, true);
    worker.take();
    put("3");
    assert.equal(worker.leave(), false, "there is a call already");
    assert.equal(worker.sleep(10_000), true, "nor does it sleep");
  });

  test("is empty after an interruption", () => {
    const { main, worker, put, finish } = ends();
    put("1");
    put("2");
    worker.take();
    main.reset();
    assert.equal(worker.take(), undefined);
    const ticket = put("3");
    assert.equal(worker.take()?.ticket, ticket);
    assert.equal(finish(ticket), true);
    assert.ok(main.collect(ticket, 0));
  });
});
