import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { logEntry } from "../../src/wasm/log.js";

function event(text: string) {
  const { level, message, fields } = logEntry("p", "u-1", {
    level: "info",
    text,
    source: "event",
  });
  return { level, message, ...fields };
}

/** What the reference implementation makes of each payload follows from its types: which keys may be absent, and which are text. */
describe("tracing/log (spec kubewarden.md 7.3)", () => {
  for (const [name, level] of [
    ["trace", "trace"],
    ["Debug", "debug"],
    ["INFO", "info"],
    ["Warning", "warn"],
    ["error", "error"],
  ]) {
    test(`level ${name}`, () => {
      const { level: read } = event(`{"level":"${name}","message":"m"}`);
      assert.equal(read, level);
    });
  }

  test("all other keys are one field, and the request is named", () => {
    assert.deepEqual(event('{"level":"info","message":"m","n":9007199254740993,"o":{"a":[1]}}'), {
      level: "info",
      message: "m",
      request_uid: "u-1",
      data: '{"n":9007199254740993,"o":{"a":[1]}}',
    });
    for (const text of ['{"level":"info"}', '{"level":"info","message":null}']) {
      assert.deepEqual(event(text), { level: "info", message: "", request_uid: "u-1", data: "{}" });
    }
  });

  for (const text of [
    "nonsense",
    "[]",
    "{}",
    '{"level":"fatal"}',
    '{"level":"constructor"}',
    '{"level":null}',
    '{"level":"info","message":5}',
  ]) {
    test(`${text} is an error that shows it`, () => {
      const { level, message, request_uid: request, ...fields } = event(text) as Record<string, string>;
      assert.deepEqual([level, message, request], ["error", "Cannot log event", "u-1"]);
      assert.equal(fields.payload, text);
      assert.ok(fields.error);
    });
  }
});
