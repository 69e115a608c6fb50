/** The life of serving processes, with processes that do what the test says. */
import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { afterEach, beforeEach, describe, mock, test } from "node:test";
import { type Child, Fleet } from "../../src/serving/fleet.js";
import { BEAT_EVERY_MS, HUNG_AFTER_MS, LOADING_HUNG_AFTER_MS } from "../../src/serving/heartbeats.js";
import type { ToPrimary, ToWorker } from "../../src/serving/messages.js";
import { createLogger } from "../../src/telemetry/logger.js";

class FakeChild extends EventEmitter implements Child {
  readonly told: ToWorker[] = [];
  /** Whether it still says that it lives. */
  beats = true;
  loading = true;
  readonly process: { pid: number | undefined; kill(signal: NodeJS.Signals): boolean } = {
    pid: 0,
    kill: (signal: NodeJS.Signals): boolean => {
      queueMicrotask(() => this.emit("exit", null, signal));
      return true;
    },
  };

  constructor(readonly id: number) {
    super();
    this.process.pid = 100 + id;
  }

  isConnected(): boolean {
    return true;
  }

  send(message: ToWorker): boolean {
    this.told.push(message);
    return true;
  }

  says(message: ToPrimary): void {
    if (message.type === "serving") this.loading = false;
    this.emit("message", message);
  }
}

/** A fleet of fakes. Time passes only by `pass`. */
class FakeFleet {
  readonly children: FakeChild[] = [];
  readonly lines: string[] = [];
  readonly replaced: string[] = [];
  /** Whether each was started as a successor. */
  readonly successors: boolean[] = [];
  generation = 1;
  now = 0;
  /** How the system refuses to start processes, if it does. */
  refusals: "thrown" | "told" | undefined;
  readonly fleet = new Fleet({
    logger: createLogger({ sink: { write: (line) => this.lines.push(line), flushSync: () => {}, dropped: 0 } }),
    fork: (_, successor) => {
      this.successors.push(successor);
      if (this.refusals === "thrown") throw new Error("spawn ENOMEM");
      const child = new FakeChild(this.children.length);
      this.children.push(child);
      if (this.refusals === "told") {
        child.process.pid = undefined;
        queueMicrotask(() => child.emit("error", new Error("spawn EMFILE")));
      }
      return child;
    },
    generation: () => this.generation,
    heard: () => {},
    outdated: (child) => this.lines.push(`outdated ${child.id}`),
    ended: () => {},
    replaced: (reason) => this.replaced.push(reason),
    clock: () => this.now,
  });

  child(number: number): FakeChild {
    const child = this.children[number];
    assert.ok(child !== undefined, `process ${number} was not started`);
    return child;
  }

  /** Starts two that serve. */
  async start(): Promise<void> {
    const started = this.fleet.start(2);
    for (const child of this.children) child.says({ type: "serving", files: [] });
    assert.equal(await started, undefined);
  }

  async pass(milliseconds: number): Promise<void> {
    for (let passed = 0; passed < milliseconds; passed += BEAT_EVERY_MS) {
      this.now += BEAT_EVERY_MS;
      mock.timers.tick(BEAT_EVERY_MS);
      for (const child of this.children)
        if (child.beats) child.says({ type: "beat", loading: child.loading, evaluations: 0 });
      // What was killed ends.
      for (let i = 0; i < 5; i++) await Promise.resolve();
    }
  }
}

describe("serving processes", () => {
  beforeEach(() => mock.timers.enable({ apis: ["setInterval", "setTimeout"] }));
  afterEach(() => mock.timers.reset());

  test("one that falls silent is not counted on, killed, and replaced; the others are left alone", async () => {
    const it = new FakeFleet();
    await it.start();
    it.child(0).beats = false;
    await it.pass(5000);
    assert.deepEqual(it.fleet.suspects, [it.child(0)]);
    assert.equal(it.children.length, 2);
    await it.pass(HUNG_AFTER_MS - 5000 + 1000);
    assert.deepEqual(it.replaced, ["hung"]);
    assert.equal(it.children.length, 3);
    it.child(2).says({ type: "serving", files: [] });
    assert.deepEqual(it.fleet.serving, [it.child(1), it.child(2)]);
    assert.deepEqual(it.fleet.suspects, []);
  });

  test("each is told whether all have served before: only then it is a successor, whatever the generation", async () => {
    const it = new FakeFleet();
    const started = it.fleet.start(2);
    it.child(0).says({ type: "serving", files: [] });
    it.child(0).emit("exit", null, "SIGKILL");
    await it.pass(1000);
    it.child(1).says({ type: "serving", files: [] });
    assert.equal(await started, undefined);
    it.child(1).emit("exit", null, "SIGKILL");
    await it.pass(2000);
    assert.deepEqual(it.successors, [false, false, false, true]);
  });

  test("one that is stuck while it starts is replaced too, later", async () => {
    const it = new FakeFleet();
    await it.start();
    it.child(0).emit("exit", 1, null);
    await it.pass(1000);
    it.child(2).beats = false;
    await it.pass(LOADING_HUNG_AFTER_MS - BEAT_EVERY_MS);
    assert.equal(it.children.length, 3);
    await it.pass(3000);
    assert.equal(it.children.length, 4);
    assert.deepEqual(it.replaced, ["died", "hung"]);
  });

  test("replacements that end at once are tried again and again, later and later, even when nobody serves any more", async () => {
    const it = new FakeFleet();
    await it.start();
    for (const child of [it.child(0), it.child(1)]) child.emit("exit", 1, null);
    const count: number[] = [];
    for (let seconds = 0; seconds < 60; seconds++) {
      await it.pass(1000);
      for (const child of it.children.slice(2)) if (child.listenerCount("exit") > 0) child.emit("exit", 1, null);
      for (const child of it.children.slice(2)) child.removeAllListeners("exit");
      count.push(it.children.length);
    }
    assert.ok(it.children.length > 4, "they are tried again");
    assert.ok(it.children.length < 12, `${it.children.length} in a minute`);
    assert.match(it.lines.at(-1) ?? "", /a serving process died and is replaced/);
  });

  for (const refusals of ["thrown", "told"] as const) {
    test(`a replacement that the system refuses to start (${refusals}) is tried again until it starts`, async () => {
      const it = new FakeFleet();
      await it.start();
      it.refusals = refusals;
      it.child(0).emit("exit", 1, null);
      await it.pass(20_000);
      const failures = it.lines.filter((line) => line.includes("could not be started: spawn E"));
      assert.ok(failures.length > 2 && failures.length < 10, `${failures.length} in 20 s`);
      assert.deepEqual(it.fleet.serving, [it.child(1)]);
      it.refusals = undefined;
      const before = it.children.length;
      await it.pass(40_000);
      assert.equal(it.children.length, before + 1);
    });

    test(`a start that the system refuses (${refusals}) fails with the reason`, async () => {
      const it = new FakeFleet();
      it.refusals = refusals;
      assert.match((await it.fleet.start(2)) ?? "", /a serving process could not be started: spawn E/);
    });
  }

  test("one that dies while others still start is replaced, one that can't start ends them all", async () => {
    const it = new FakeFleet();
    const started = it.fleet.start(2);
    it.child(0).says({ type: "serving", files: [] });
    it.child(0).emit("exit", null, "SIGKILL");
    await it.pass(1000);
    assert.equal(it.children.length, 3);
    it.child(1).says({ type: "failed", message: "no port" });
    it.child(1).emit("exit", 1, null);
    assert.equal(await started, "no port");
    await it.pass(5000);
    assert.equal(it.children.length, 3);
  });

  test("one that the system can't start, for want of file descriptors, is tried again", async () => {
    const it = new FakeFleet();
    await it.start();
    it.child(0).emit("exit", null, "SIGKILL");
    await it.pass(1000);
    const unborn = it.child(2);
    unborn.process.pid = undefined;
    unborn.emit("error", new Error("spawn node EMFILE"));
    assert.match(it.lines.at(-1) ?? "", /could not be started: spawn node EMFILE/);
    await it.pass(2000);
    it.child(3).says({ type: "serving", files: [] });
    assert.deepEqual(it.fleet.serving, [it.child(1), it.child(3)]);
    // An exit that is told besides starts no other.
    unborn.emit("exit", -24, null);
    await it.pass(60_000);
    assert.equal(it.children.length, 4);
  });

  test("a question to one that hangs ends with it", async () => {
    const it = new FakeFleet();
    await it.start();
    it.child(0).beats = false;
    const asked = it.fleet.ask(it.fleet.serving, 1_000_000, (id) => ({ type: "prepare", id, generation: 2 }));
    it.child(1).says({ type: "prepared", id: 0, ok: true, files: [] });
    await it.pass(HUNG_AFTER_MS + 1000);
    const answers = await asked;
    assert.equal(answers.get(it.child(0)), "gone");
    assert.deepEqual(answers.get(it.child(1)), { type: "prepared", id: 0, ok: true, files: [] });
  });

  test("a question that is not answered in time is late, and the process is left alone", async () => {
    const it = new FakeFleet();
    await it.start();
    const asked = it.fleet.ask([it.child(0)], 5000, (id) => ({ type: "collect", id }));
    await it.pass(6000);
    assert.equal((await asked).get(it.child(0)), "late");
    assert.equal(it.children.length, 2);
  });

  test("one that was started for older policies is outdated when it serves", async () => {
    const it = new FakeFleet();
    await it.start();
    it.child(0).emit("exit", 1, null);
    await it.pass(1000);
    it.generation = 2;
    it.fleet.serves(it.child(1), 2);
    it.child(2).says({ type: "serving", files: [] });
    assert.deepEqual(it.fleet.outdated, [it.child(2)]);
    assert.equal(it.lines.at(-1), "outdated 2");
  });

  test("one that serves older policies than the others is not current before it has caught up", async () => {
    const it = new FakeFleet();
    await it.start();
    it.child(0).emit("exit", 1, null);
    await it.pass(1000);
    it.generation = 2;
    it.child(2).says({ type: "serving", files: [] });
    assert.deepEqual(it.fleet.current, []);
    it.fleet.serves(it.child(2), 2);
    assert.deepEqual(it.fleet.current, [it.child(2)]);
    it.fleet.serves(it.child(1), 2);
    assert.deepEqual(it.fleet.current, [it.child(1), it.child(2)]);
  });

  test("one that read the files by itself comes after those that agreed; at the end none is current", async () => {
    const it = new FakeFleet();
    await it.start();
    for (const dies of [0, 1]) {
      it.child(dies).emit("exit", 1, null);
      await it.pass(6000);
      it.child(2 + dies).says({ type: "serving", files: [] });
    }
    it.fleet.serves(it.child(3), 1);
    assert.deepEqual(it.fleet.current, [it.child(3), it.child(2)]);
    it.fleet.stop(0, 0);
    assert.deepEqual([it.fleet.current, it.fleet.serving.length], [[], 2]);
  });

  test("while the files hold policies that were kept out none is replaced; when they are mended all are", async () => {
    const it = new FakeFleet();
    await it.start();
    it.fleet.hold([it.child(1)]);
    it.child(0).emit("exit", 1, null);
    await it.pass(60_000);
    assert.equal(it.children.length, 2);
    assert.equal(it.lines.filter((line) => line.includes("is not replaced while the files hold")).length, 1);
    it.fleet.release();
    assert.equal(it.children.length, 3);
    it.child(2).says({ type: "serving", files: [] });
    it.child(2).emit("exit", 1, null);
    await it.pass(2000);
    assert.equal(it.children.length, 4);
  });

  test("when nobody is left, what the files hold is served by as many as before", async () => {
    const it = new FakeFleet();
    await it.start();
    it.fleet.hold(it.fleet.serving);
    it.child(0).emit("exit", 1, null);
    await it.pass(60_000);
    it.child(1).emit("exit", 1, null);
    await it.pass(60_000);
    assert.equal(it.children.length, 4);
  });

  test("one that may have loaded what was kept out before it was refused is killed, unless it refused it too", async () => {
    const it = new FakeFleet();
    await it.start();
    for (const dies of [0, 1]) {
      it.child(dies).emit("exit", 1, null);
      await it.pass(6000);
    }
    for (const replacement of [2, 3]) it.child(replacement).says({ type: "serving", files: [] });
    it.fleet.hold([it.child(3)]);
    await it.pass(6000);
    assert.deepEqual(it.fleet.serving, [it.child(3)]);
    it.fleet.release();
    for (const child of [it.child(3), it.child(4)]) it.fleet.serves(child, 1);
    it.child(4).says({ type: "serving", files: [] });
    it.fleet.hold([it.child(3)]);
    await it.pass(6000);
    assert.deepEqual(it.fleet.serving, [it.child(3), it.child(4)], "it has taken part in a reload");
  });

  test("at the end one that does not stop is killed after its grace, and nobody is replaced", async () => {
    const it = new FakeFleet();
    await it.start();
    const { drained, gone } = it.fleet.stop(1000, 2000);
    assert.deepEqual(it.child(0).told, [{ type: "stop", delay: 1000, grace: 2000 }]);
    it.child(0).says({ type: "drained", snapshot: [] });
    it.child(0).emit("exit", 0, null);
    it.child(1).beats = false;
    await it.pass(6000);
    await Promise.all([drained, gone]);
    assert.equal(it.children.length, 2);
    assert.deepEqual(it.replaced, []);
  });
});
