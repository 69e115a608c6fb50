import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  BEAT_EVERY_MS,
  Beats,
  Heartbeats,
  HUNG_AFTER_MS,
  LOADING_HUNG_AFTER_MS,
  SUSPECT_AFTER_MS,
} from "../../src/serving/heartbeats.js";
import { Restarts } from "../../src/serving/restarts.js";

/** A clock that is set, and heartbeats that are looked at every interval. */
class Watched {
  now = 0;
  readonly heartbeats = new Heartbeats<string>(() => this.now);

  /** Lets time pass in which `alive` beat. Returns who hung first, and when. */
  pass(milliseconds: number, alive: readonly string[] = []): readonly [string[], number] {
    const end = this.now + milliseconds;
    while (this.now < end) {
      this.now += BEAT_EVERY_MS;
      const hung = this.heartbeats.look();
      if (hung.length > 0) return [hung, this.now];
      for (const process of alive) this.heartbeats.heard(process, false);
    }
    return [[], this.now];
  }
}

function serving(...processes: readonly string[]): Watched {
  const watched = new Watched();
  for (const process of processes) {
    watched.heartbeats.watch(process);
    watched.heartbeats.heard(process, false);
  }
  return watched;
}

describe("heartbeats", () => {
  test("who is silent is suspected, then hangs; who beats does neither", () => {
    const watched = serving("a", "b");
    watched.pass(SUSPECT_AFTER_MS - BEAT_EVERY_MS, ["b"]);
    assert.equal(watched.heartbeats.suspect("a"), false);
    watched.pass(BEAT_EVERY_MS, ["b"]);
    assert.equal(watched.heartbeats.suspect("a"), true);
    assert.equal(watched.heartbeats.suspect("b"), false);
    assert.deepEqual(watched.pass(60_000, ["b"]), [["a"], HUNG_AFTER_MS]);
  });

  test("loading takes longer, the first time and later, and is not suspicious", () => {
    const watched = new Watched();
    watched.heartbeats.watch("a");
    watched.pass(LOADING_HUNG_AFTER_MS - BEAT_EVERY_MS);
    assert.equal(watched.heartbeats.suspect("a"), false);
    assert.deepEqual(watched.pass(BEAT_EVERY_MS)[0], ["a"]);
    watched.heartbeats.heard("a", true);
    assert.deepEqual(watched.pass(HUNG_AFTER_MS)[0], []);
    watched.heartbeats.heard("a", false);
    assert.deepEqual(watched.pass(HUNG_AFTER_MS)[0], ["a"]);
  });

  test("time in which nobody listened is nobody's silence", () => {
    const watched = serving("a", "b");
    // Stopped or suspended for an hour: the clock jumps, and what was said meanwhile is heard after the first look.
    watched.now += 3_600_000;
    assert.deepEqual(watched.heartbeats.look(), []);
    assert.equal(watched.heartbeats.suspect("a"), false);
    watched.heartbeats.heard("b", false);
    assert.deepEqual(watched.pass(60_000, ["b"])[0], ["a"]);
  });

  test("who has ended is not listened to any more", () => {
    const watched = serving("a");
    watched.heartbeats.forget("a");
    assert.deepEqual(watched.pass(60_000)[0], []);
  });
});

describe("restarts", () => {
  test("come later and later, up to half a minute, until a process has served for a while", () => {
    const restarts = new Restarts();
    const pauses = Array.from({ length: 8 }, () => restarts.pause(0));
    assert.deepEqual(pauses, [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
    assert.equal(restarts.pause(59_999), 30_000);
    assert.equal(restarts.pause(60_000), 500);
    assert.equal(restarts.pause(0), 1000);
  });
});

test("a process says that it loads until the last of its loads has ended, however that ends", async () => {
  const told: boolean[] = [];
  const beats = new Beats((loading) => told.push(loading));
  const ends: (() => void)[] = [];
  const load = (): Promise<void> => beats.during(() => new Promise((resolve) => ends.push(resolve)));
  const [first, second] = [load(), load()];
  ends[0]?.();
  await first;
  beats.beat();
  assert.deepEqual(told, [true, true, true, true]);
  ends[1]?.();
  await second;
  await assert.rejects(beats.during(() => Promise.reject(new Error("no"))));
  assert.deepEqual(told.slice(4), [false, true, false]);
});
