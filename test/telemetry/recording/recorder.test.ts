/** Recording: what is written, what is left out, and the file. */
import assert from "node:assert/strict";
import fs, {
  existsSync,
  linkSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { admissionQuestion } from "../../../src/admission/decode.js";
import { BatchingSink } from "../../../src/telemetry/line-sink.js";
import { putAside, RecordFile } from "../../../src/telemetry/recording/record-file.js";
import type { AnsweredReview } from "../../../src/telemetry/recording/record-line.js";
import { Recorder } from "../../../src/telemetry/recording/recorder.js";

const folder = mkdtempSync(join(tmpdir(), "recorder-"));
after(() => rmSync(folder, { recursive: true }));

const gvk = { group: "", version: "v1", kind: "Pod" };
const answered = (name: string, bytes = 1000): AnsweredReview => {
  const request = {
    ...{ uid: name, kind: gvk, resource: { group: "", version: "v1", resource: "pods" }, operation: "CREATE", name },
    userInfo: { username: "ann", extra: { session: ["abc"] } },
    object: { kind: "Pod" },
  };
  const response = { uid: name, allowed: false, status: { code: 403, message: "no" } };
  const verdict = { outcome: { verdict: "deny" }, response, milliseconds: 1.23456 };
  return {
    ...{ review: admissionQuestion(request), origin: "validate", policy: "p", generation: 3, bytes },
    verdict: verdict as unknown as AnsweredReview["verdict"],
  };
};

class Lines {
  readonly lines: string[] = [];
  dropped = 0;
  write(line: string): void {
    this.lines.push(line);
  }
  flushSync(): void {}
}

describe("a recorder", () => {
  test("writes request and answer behind the answer, with what an authenticator added taken out", () => {
    const sink = new Lines();
    const due: (() => void)[] = [];
    const recorder = new Recorder({ sink, every: 1, wall: () => 0, later: (run) => due.push(run) });
    recorder.record(answered("a"));
    assert.deepEqual(sink.lines, []);
    due.shift()?.();
    assert.deepEqual(JSON.parse(sink.lines[0] ?? ""), {
      ...{ record: "policy-server/v1", time: "1970-01-01T00:00:00.000Z", policy: "p", origin: "validate" },
      generation: 3,
      request: {
        ...{ uid: "a", kind: gvk, resource: { group: "", version: "v1", resource: "pods" }, operation: "CREATE" },
        ...{ name: "a", object: { kind: "Pod" }, userInfo: { username: "ann", extra: { session: ["[redacted]"] } } },
      },
      response: { allowed: false, code: 403, message: "no" },
      ...{ outcome: "deny", milliseconds: 1.235, redacted: ["/request/userInfo/extra/session/0"] },
    });
  });

  test("makes lines for a moment at a time, and all that is left at the end", () => {
    const sink = new Lines();
    const due: (() => void)[] = [];
    let now = 0;
    const recorder = new Recorder({ sink, every: 1, now: () => now++, later: (run) => due.push(run) });
    for (const name of ["a", "b", "c"]) recorder.record(answered(name));
    assert.equal(due.length, 1);
    due.shift()?.();
    assert.equal(sink.lines.length, 1);
    assert.equal(due.length, 1);
    recorder.flushSync();
    assert.equal(sink.lines.length, 3);
  });

  test("writes one of so many", () => {
    const sink = new Lines();
    const recorder = new Recorder({ sink, every: 3, later: () => {} });
    for (let i = 1; i <= 7; i++) recorder.record(answered(String(i)));
    recorder.flushSync();
    assert.deepEqual(
      sink.lines.map((line) => (JSON.parse(line) as { request: { uid: string } }).request.uid),
      ["3", "6"],
    );
  });

  test("leaves out, and counts, what is more than may wait, or too long for a line", () => {
    const sink = new Lines();
    const recorder = new Recorder({ sink, every: 1, later: () => {} });
    recorder.record(answered("too long", 4 * 1024 * 1024));
    for (let i = 0; i < 5; i++) recorder.record(answered(String(i), 3 * 1024 * 1024));
    assert.equal(recorder.dropped, 3);
    recorder.flushSync();
    assert.equal(sink.lines.length, 3);
    sink.dropped = 2;
    assert.equal(recorder.dropped, 5, "with those that the file did not take");
  });
});

describe("the file of a recording", () => {
  const quiet = { complain: () => {} };

  test("is for its owner alone, also when it was there before; what is there stays", () => {
    const path = join(folder, "mode");
    writeFileSync(path, "old\n", { mode: 0o644 });
    const file = new RecordFile({ path, ...quiet });
    file.writeSync(Buffer.from("new\n"));
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.equal(readFileSync(path, "utf8"), "old\nnew\n");
    file.close();
  });

  test("is put aside when it is too long, and the one before goes; whoever writes notices", () => {
    const path = join(folder, "long");
    let now = 0;
    const file = new RecordFile({ path, ...quiet, now: () => now });
    for (const text of ["1\n", "2\n", "3\n"]) {
      file.writeSync(Buffer.from(text));
      assert.equal(putAside(path, 100), false);
      assert.equal(putAside(path, 2), true);
      now += 2000;
    }
    file.writeSync(Buffer.from("4\n"));
    assert.equal(readFileSync(path, "utf8"), "4\n");
    assert.equal(readFileSync(`${path}.1`, "utf8"), "3\n");
    renameSync(path, join(folder, "moved by others"));
    now += 2000;
    file.writeSync(Buffer.from("5\n"));
    assert.equal(readFileSync(path, "utf8"), "5\n");
    file.close();
  });

  test("a full disk is said once a minute, costs lines and nothing else, and a line that was cut ends", async (t) => {
    const path = join(folder, "full");
    const said: string[] = [];
    let now = 0;
    const file = new RecordFile({ path, complain: ({ message }) => said.push(message), now: () => now });
    const sink = new BatchingSink(file);
    const full = Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
    file.writeSync(Buffer.from("whole\ncu"));
    const mocked = t.mock.method(fs, "writeSync", () => {
      throw full;
    });
    for (const line of ["lost", "lost too"]) {
      sink.write(line);
      sink.flushSync();
    }
    assert.equal(sink.dropped, 2);
    assert.deepEqual(said, [full.message]);
    now += 61_000;
    sink.write("lost as well");
    sink.flushSync();
    assert.equal(said.length, 2);
    mocked.mock.restore();
    sink.write("there again");
    sink.flushSync();
    assert.equal(readFileSync(path, "utf8"), "whole\ncu\nthere again\n");
    file.close();
  });

  test("is not what a link leads to: neither its mode nor its content is touched, also when the link comes later", () => {
    const target = join(folder, "of somebody else");
    writeFileSync(target, "theirs\n", { mode: 0o644 });
    const untouched = (): void => {
      assert.equal(statSync(target).mode & 0o777, 0o644);
      assert.equal(readFileSync(target, "utf8"), "theirs\n");
    };
    for (const [name, link] of [
      ["symbolic", symlinkSync],
      ["hard", linkSync],
    ] as const) {
      const path = join(folder, name);
      link(target, path);
      assert.throws(() => new RecordFile({ path, ...quiet }), /is a link|of several names/);
      untouched();
      rmSync(path);
      let now = 0;
      const said: string[] = [];
      const file = new RecordFile({ path, complain: ({ message }) => said.push(message), now: () => now });
      file.writeSync(Buffer.from("1\n"));
      rmSync(path);
      link(target, path);
      now += 2000;
      assert.throws(() => file.writeSync(Buffer.from("2\n")), /can't be written/);
      assert.equal(said.length, 1);
      assert.equal(putAside(path, 1), name === "hard", "a link is not put aside");
      untouched();
      rmSync(path, { force: true });
      rmSync(`${path}.1`, { force: true });
    }
    symlinkSync(join(folder, "not there yet"), join(folder, "dangling"));
    assert.throws(() => new RecordFile({ path: join(folder, "dangling"), ...quiet }), /is a link/);
    assert.equal(existsSync(join(folder, "not there yet")), false);
  });

  test("must be a regular file: nobody waits for the reader of a pipe", () => {
    assert.throws(() => new RecordFile({ path: folder, ...quiet }), /not a regular file/);
    assert.throws(() => new RecordFile({ path: join(folder, "no", "folder"), ...quiet }), /ENOENT/);
    assert.equal(existsSync(join(folder, "no")), false);
  });
});
