/** What a guest can make its host hold and pass on. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { DEFAULT_GUEST_LIMITS } from "../../../../src/wasm/limits.js";
import type { HostQuestion, LogLine } from "../../../../src/wasm/run/guest/call.js";
import { CallHost, type HostSide } from "../../../../src/wasm/run/guest/call-host.js";
import { ENDLESS } from "../../support.js";

const LINE = DEFAULT_GUEST_LIMITS.logLineBytes;
/** A line that counts 1 KiB, with the 64 bytes that every line counts beside its text. */
const LONG_LINE = "a".repeat(1024 - 64);
const ENOUGH_LINES = DEFAULT_GUEST_LIMITS.logBytes / 1024;

type Posted = LogLine | HostQuestion;

function recorded() {
  const posted: Posted[] = [];
  const side: HostSide = {
    ask: (question) => {
      posted.push(question);
      return { ok: true, payload: new Uint8Array() };
    },
    line: (line) => posted.push(line),
    sleep() {},
  };
  return { host: new CallHost(side, DEFAULT_GUEST_LIMITS, ENDLESS), posted };
}

const texts = (posted: readonly Posted[]) => posted.map((each) => ("text" in each ? each.text : each.operation));

describe("a call's host", () => {
  test("logs of what a guest writes as much as a line may have, wherever it writes it", () => {
    const { host, posted } = recorded();
    const whole = new Uint8Array(LINE * 4).fill(97);
    host.output(whole);
    host.call("kubewarden", "tracing", "log", whole);
    host.log("info", "a".repeat(LINE * 4), "policy");
    host.output(Buffer.from("short\n"));
    assert.deepEqual(texts(posted), [...Array(3).fill(`${"a".repeat(LINE)}…`), "short"]);
  });

  test("says that lines are dropped when it drops the first, and how many at the end", () => {
    const { host, posted } = recorded();
    for (let line = 0; line < ENOUGH_LINES + 500; line++) host.log("info", LONG_LINE, "policy");
    assert.equal(posted.length, ENOUGH_LINES + 1);
    assert.equal(texts(posted).at(-1), "further log lines of this call are dropped, because it may log 65536 bytes");
    host.finish();
    assert.equal(texts(posted).at(-1), "500 more log lines of this call were dropped");
  });

  test("counts a line's bytes, not its characters, and empty lines too", () => {
    for (const [line, most] of [
      ["→".repeat(1024 - 64 / 3), 22],
      ["", 1024],
    ] as const) {
      const { host, posted } = recorded();
      for (let lines = 0; lines < 10_000; lines++) host.log("info", line, "policy");
      const lines = posted.length - 1;
      assert.ok(lines <= most && lines >= most - 1, `${lines} lines`);
    }
  });

  test("logs nothing more after the first line that is too much, however short", () => {
    const { host, posted } = recorded();
    for (let line = 0; line < 5; line++) host.log("info", "a".repeat(LINE), "policy");
    host.log("info", "short", "policy");
    assert.deepEqual(
      texts(posted).map((text) => text.length),
      [LINE, LINE, LINE, texts(posted).at(-1)?.length],
    );
    assert.match(texts(posted).at(-1) ?? "", /^further log lines/);
  });

  test("posts a copy of a payload, not the memory that it lies in", () => {
    const { host, posted } = recorded();
    const memory = new Uint8Array(65_536).fill(49);
    host.call("kubewarden", "net", "v1/dns_lookup_host", memory.subarray(10, 13));
    const [message] = posted;
    assert.ok(message && "payload" in message);
    assert.deepEqual([...message.payload], [49, 49, 49]);
    assert.equal(message.payload.buffer.byteLength, 3);
  });

  test("does not copy a payload that is too large", () => {
    const { host, posted } = recorded();
    const large = new Uint8Array(DEFAULT_GUEST_LIMITS.hostCallBytes + 1);
    assert.throws(() => host.call("kubewarden", "net", "v1/dns_lookup_host", large), { name: "GuestLimitError" });
    assert.deepEqual(posted, []);
  });

  test("serves as many calls as a guest may make, with names as long as they may be, and none more", () => {
    const { host, posted } = recorded();
    const { hostCalls } = DEFAULT_GUEST_LIMITS;
    const ask = (namespace: string) => host.call("b".repeat(100), namespace, "o".repeat(100), new Uint8Array());
    assert.throws(() => ask("n".repeat(57)), {
      name: "GuestLimitError",
      message: /name is longer than 256 characters/,
    });
    for (let calls = 1; calls < hostCalls; calls++) ask("n".repeat(56));
    assert.throws(() => ask("n"), { name: "GuestLimitError", message: /more than 1000 calls to the host/ });
    assert.equal(posted.length, hostCalls - 1);
  });

  test("keeps the beginning of what is written to standard error", () => {
    const { host } = recorded();
    host.stderr(new Uint8Array(8_000).fill(97));
    host.stderr(new Uint8Array(8_000).fill(98));
    host.stderr(new Uint8Array(8_000).fill(99));
    assert.equal(host.stderrText(), "a".repeat(8_000) + "b".repeat(192));
  });
});
