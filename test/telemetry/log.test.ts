import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type Decision, logDecision, redactDecision } from "../../src/telemetry/decision.js";
import { BatchingSink, createLineSink, FLUSH_WITHIN_MS, type SinkFile } from "../../src/telemetry/line-sink.js";
import { createLogger, type LogFormat, type LogLevel } from "../../src/telemetry/logger.js";

function logging(format: LogFormat, level: LogLevel = "info", color = false) {
  const lines: string[] = [];
  const sink = { write: (line: string) => void lines.push(line), flushSync: () => {}, dropped: 0 };
  return { lines, logger: createLogger({ sink, format, level, color, clock: () => Date.UTC(2026, 0, 2, 3, 4, 5, 6) }) };
}

describe("log lines (spec kubewarden.md 8.2)", () => {
  test("JSON: timestamp, level, fields with the message, target", () => {
    const { logger, lines } = logging("json");
    logger.info("hello", { policy_id: "p", nothing: undefined, n: 1 });
    logger.named("policy_log").warn('quo"te\n');
    assert.deepEqual(lines, [
      '{"timestamp":"2026-01-02T03:04:05.006Z","level":"INFO","fields":{"message":"hello","policy_id":"p","n":1},"target":"policy_server"}',
      '{"timestamp":"2026-01-02T03:04:05.006Z","level":"WARN","fields":{"message":"quo\\"te\\n"},"target":"policy_log"}',
    ]);
  });

  test("text: one line for people, values quoted where they could be misread", () => {
    const { logger, lines } = logging("text");
    logger.error("line\nforged", { policy_id: "a/b", message_: "two words", evil: "x\u001b[31m\n" });
    assert.deepEqual(lines, [
      '2026-01-02T03:04:05.006Z ERROR policy_server: line\\nforged policy_id=a/b message_="two words" evil="x\\u001b[31m\\n"',
    ]);
  });

  test("nothing that a terminal obeys, in either form, and JSON says the same as before", () => {
    for (const character of [..."\u0000\n\r\u001b\u007f\u0085\u009b\u061c\u200f\u2028\u202e\u2066\ufeff", "\ud800"]) {
      const said = `a${character}forged`;
      for (const format of ["text", "json"] as const) {
        const { logger, lines } = logging(format);
        logger.info(said, { [said]: said, list: [said] });
        const [line = ""] = lines;
        assert.match(line, /forged/);
        assert.doesNotMatch(line, /[\p{Cc}\p{Bidi_Control}\p{Cs}\u2028\u2029\ufeff]/u);
        if (format === "json")
          assert.deepEqual((JSON.parse(line) as { fields: unknown }).fields, {
            message: said,
            [said]: said,
            list: [said],
          });
      }
    }
  });

  test("colour only when asked for", () => {
    const { logger, lines } = logging("text", "info", true);
    logger.warn("m");
    assert.ok(lines[0]?.includes("\u001b[33m WARN\u001b[0m"));
  });

  test("quieter lines than the level are not written", () => {
    const { logger, lines } = logging("text", "warn");
    for (const level of ["trace", "debug", "info", "warn", "error"] as const) logger.log(level, level);
    assert.equal(lines.length, 2);
    assert.equal(logger.enabled("info"), false);
  });
});

const DECISION: Decision = {
  origin: "validate",
  policy: "p",
  mode: "monitor",
  uid: "u",
  kind: { group: "", version: "v1", kind: "Secret" },
  name: "db",
  allowed: true,
  mutated: false,
  message: "the password is hunter2",
  outcome: "deny",
  monitored: { allowed: false, mutated: false, message: "the password is hunter2" },
  milliseconds: 1.23456,
  members: [{ policy: "p/a", outcome: "deny", milliseconds: 0.0004 }],
};

describe("the decision record", () => {
  test("says who, what and why in one line, with members and their times", () => {
    const { logger, lines } = logging("json");
    logDecision(logger, { ...DECISION, kind: { group: "", version: "v1", kind: "Pod" } });
    const { fields } = JSON.parse(lines[0] ?? "") as { fields: Record<string, unknown> };
    assert.deepEqual(fields, {
      message: "policy evaluation (monitor mode)",
      origin: "validate",
      policy_id: "p",
      policy_mode: "monitor",
      request_uid: "u",
      kind_group: "",
      kind_version: "v1",
      kind: "Pod",
      name: "db",
      allowed: true,
      mutated: false,
      response_message: "the password is hunter2",
      outcome: "deny",
      would_be: { allowed: false, mutated: false, message: "the password is hunter2" },
      duration_ms: 1.235,
      members: [{ policy: "p/a", outcome: "deny", milliseconds: 0 }],
    });
  });

  test("nothing that a policy says about a Secret is logged", () => {
    const { logger, lines } = logging("json");
    const detail = "cannot reach hunter2";
    const members = [{ policy: "p/a", outcome: "deny", milliseconds: 0, detail }];
    logDecision(logger, redactDecision({ ...DECISION, detail, members }));
    assert.equal(lines[0]?.includes("hunter2"), false);
    assert.match(lines[0] ?? "", /\[redacted\]/);
  });

  test("the whole reasons of failures are logged, of members beside them", () => {
    const { logger, lines } = logging("json");
    const members = [{ policy: "p/a", outcome: "error", milliseconds: 0, detail: "connect ECONNREFUSED 10.0.0.2:443" }];
    const kind = { group: "", version: "v1", kind: "Pod" };
    const failed = { ...DECISION, kind, detail: "connect ECONNREFUSED 10.0.0.1:443", members };
    logDecision(logger, redactDecision(failed));
    const { fields } = JSON.parse(lines[0] ?? "") as { fields: Record<string, unknown> };
    assert.equal(fields.detail, failed.detail);
    assert.deepEqual(fields.members, members);
  });

  test("a guest's endless message is cut", () => {
    const { logger, lines } = logging("json");
    logDecision(
      logger,
      redactDecision({ ...DECISION, kind: { group: "", version: "v1", kind: "Pod" }, message: "x".repeat(1_000_000) }),
    );
    assert.ok((lines[0]?.length ?? 0) < 4000);
  });

  test("failures of policies are warnings", () => {
    const { logger, lines } = logging("json", "warn");
    logDecision(logger, { ...DECISION, outcome: "error", failure: "trap" });
    logDecision(logger, DECISION);
    assert.equal(lines.length, 1);
  });
});

/** What a test opens and closes for reading: a pipe takes what it can at once, a file is written to beside the main thread. */
class SlowFile implements SinkFile {
  text = "";
  batches = 0;
  busy = false;
  /** Which part of a text is taken at a time. */
  takes = 0.5;
  readonly write?: SinkFile["write"];

  constructor(kind: "pipe" | "file") {
    if (kind === "pipe") return;
    this.write = (bytes, done) => {
      const full = Object.assign(new Error("full"), { code: "EAGAIN" });
      // Written now, reported later.
      const written = this.busy ? 0 : this.#take(bytes);
      setImmediate(() => done(written === 0 ? full : null, written));
    };
  }

  writeSync(bytes: Uint8Array): number {
    if (this.busy) throw Object.assign(new Error("full"), { code: "EAGAIN" });
    return this.#take(bytes);
  }

  #take(bytes: Uint8Array): number {
    const taken = Math.ceil(bytes.length * this.takes);
    this.batches += 1;
    this.text += Buffer.from(bytes.subarray(0, taken)).toString();
    return taken;
  }

  /** Milliseconds waited so far. */
  paused = 0;
  /** After so many the reader reads again. */
  busyFor = Number.POSITIVE_INFINITY;

  pauseSync(milliseconds: number): void {
    this.paused += milliseconds;
    if (this.paused >= this.busyFor) this.busy = false;
  }
}

for (const kind of ["pipe", "file"] as const) {
  describe(`the line sink on a ${kind}`, () => {
    test("writes everything in order, however little the file takes at a time", async () => {
      const file = new SlowFile(kind);
      const sink = new BatchingSink(file);
      for (let i = 0; i < 1000; i++) sink.write(`line ${i}`);
      const expected = Array.from({ length: 1000 }, (_, i) => `line ${i}\n`).join("");
      while (file.text.length < expected.length) await sleep(5);
      assert.equal(file.text, expected);
      assert.ok(file.batches < 100);
    });

    test("keeps the order of lines of any length, with characters of several bytes, while the file is busy and when it is not", async () => {
      const file = new SlowFile(kind);
      // Whole writes, so that no character is cut where this file reads it as a text.
      file.takes = 1;
      const sink = new BatchingSink(file);
      let expected = "";
      for (let i = 0; i < 400; i++) {
        file.busy = i % 100 > 60;
        const line = `${i} ${"äb€😀".repeat(i % 50 === 49 ? 20_000 : i)}`;
        sink.write(line);
        expected += `${line}\n`;
        if (i % 7 === 0) await sleep(1);
      }
      file.busy = false;
      while (file.text.length < expected.length) await sleep(5);
      assert.ok(file.text === expected);
      assert.equal(sink.dropped, 0);
    });

    test("a full pipe is tried again, and beyond the buffer lines are dropped and counted, never waited for", async () => {
      const file = new SlowFile(kind);
      file.busy = true;
      const sink = new BatchingSink(file);
      const line = "x".repeat(1023);
      for (let i = 0; i < 20_000; i++) sink.write(line);
      assert.ok(sink.dropped > 10_000);
      const kept = 20_000 - sink.dropped;
      file.busy = false;
      while (file.text.length < kept * 1024) await sleep(5);
      assert.equal(file.text.length, kept * 1024);
    });

    test("the end of the process waits for a reader that is busy", () => {
      const file = new SlowFile(kind);
      file.busy = true;
      file.busyFor = FLUSH_WITHIN_MS / 2;
      const sink = new BatchingSink(file);
      for (let i = 0; i < 3; i++) sink.write(String(i));
      sink.flushSync();
      assert.equal(file.text, "0\n1\n2\n");
      assert.equal(sink.dropped, 0);
    });

    test("the end of the process does not wait for ever: what can't be written is dropped and counted", () => {
      const file = new SlowFile(kind);
      file.busy = true;
      const sink = new BatchingSink(file);
      for (let i = 0; i < 3; i++) sink.write(String(i));
      sink.flushSync();
      assert.equal(file.text, "");
      assert.equal(sink.dropped, 3);
      assert.ok(file.paused >= FLUSH_WITHIN_MS && file.paused <= 2 * FLUSH_WITHIN_MS, `${file.paused} ms`);
    });

    test("the end of the process writes nothing twice and loses nothing, in the middle of a batch too", async () => {
      const file = new SlowFile(kind);
      file.takes = 1;
      const sink = new BatchingSink(file, 4096);
      const lines = Array.from({ length: 3000 }, (_, i) => `line ${i} ${"x".repeat(50)}`);
      for (const line of lines) sink.write(line);
      assert.notEqual(file.text, "", "a batch is under way");
      sink.flushSync();
      for (let turns = 0; turns < 1000; turns++) await new Promise(setImmediate);
      assert.deepEqual(file.text.trimEnd().split("\n").sort(), [...lines].sort());
      assert.equal(sink.dropped, 0);
    });
  });
}

describe("the line sink", () => {
  test("a pipe that is read is given a whole batch in one turn, in pieces that other processes' lines don't get between", () => {
    const file = new SlowFile("pipe");
    file.takes = 1;
    const sink = new BatchingSink(file, 4096);
    const line = "x".repeat(511);
    for (let i = 0; i < 20_000; i++) sink.write(line);
    assert.equal(sink.dropped, 0);
    assert.ok(file.text.length > 20_000 * 512 - 64 * 1024, `${file.text.length} characters`);
    assert.equal(file.batches, file.text.length / 4096);
  });

  test("a pipe that another process has switched to blocking does not block this one", () => {
    const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "sink-")), "log");
    const fd = fs.openSync(file, "w");
    const switched: boolean[] = [];
    const sink = createLineSink(fd, false, { setBlocking: (blocking) => switched.push(blocking) });
    sink.write("a");
    sink.flushSync();
    sink.write("b");
    sink.flushSync();
    assert.deepEqual(switched, [false, false]);
    fs.closeSync(fd);
  });

  test("the end of the process loses nothing", () => {
    const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "sink-")), "log");
    const fd = fs.openSync(file, "w");
    const sink = createLineSink(fd);
    for (let i = 0; i < 10; i++) sink.write(String(i));
    sink.flushSync();
    assert.equal(fs.readFileSync(file, "utf8"), "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    fs.closeSync(fd);
  });
});
