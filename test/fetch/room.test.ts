import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Release, Room } from "../../src/fetch/room.js";

/** Who is in a room, in the order of their coming. */
class Seen {
  readonly entered: string[] = [];
  readonly #releases = new Map<string, Release>();

  constructor(readonly room: Room) {}

  async want(name: string, owner: string, weight: number): Promise<void> {
    void this.room.enter(owner, weight).then((release) => {
      this.entered.push(name);
      this.#releases.set(name, release);
    });
    await turn();
  }

  async leave(name: string): Promise<void> {
    this.#releases.get(name)?.();
    await turn();
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("a room", () => {
  test("holds so much weight at a time, and what is heavier than all of it alone", async () => {
    const seen = new Seen(new Room(10));
    await seen.want("a", "x", 6);
    await seen.want("b", "y", 4);
    await seen.want("c", "z", 25);
    assert.deepEqual(seen.entered, ["a", "b"]);
    await seen.leave("a");
    assert.deepEqual(seen.entered, ["a", "b"]);
    await seen.leave("b");
    assert.deepEqual(seen.entered, ["a", "b", "c"]);
  });

  test("is left once, however often that is said", async () => {
    const seen = new Seen(new Room(1));
    await seen.want("a", "x", 1);
    await seen.leave("a");
    await seen.leave("a");
    await seen.want("b", "x", 1);
    await seen.want("c", "y", 1);
    assert.deepEqual(seen.entered, ["a", "b"]);
  });

  test("gives an owner no more than a share, and others enter meanwhile", async () => {
    const seen = new Seen(new Room(8, 2));
    for (const name of ["a", "b", "c", "d"]) await seen.want(name, "greedy", 1);
    await seen.want("e", "other", 1);
    assert.deepEqual(seen.entered, ["a", "b", "e"]);
    await seen.leave("a");
    assert.deepEqual(seen.entered, ["a", "b", "e", "c"]);
  });

  test("lets in first who has least in it", async () => {
    const seen = new Seen(new Room(2, 2));
    await seen.want("a", "greedy", 1);
    await seen.want("b", "greedy", 1);
    await seen.want("c", "greedy", 1);
    await seen.want("d", "other", 1);
    await seen.leave("a");
    assert.deepEqual(seen.entered, ["a", "b", "d"]);
  });

  test("is not kept from what is heavy by what is light", async () => {
    const seen = new Seen(new Room(4));
    await seen.want("a", "x", 3);
    await seen.want("heavy", "y", 4);
    await seen.want("light", "z", 1);
    assert.deepEqual(seen.entered, ["a"]);
    await seen.leave("a");
    assert.deepEqual(seen.entered, ["a", "heavy"]);
  });

  test("is not waited for beyond a signal, and those behind enter", async () => {
    const room = new Room(2, 1);
    const leave = await room.enter("x", 2);
    const ends = new AbortController();
    const ran: string[] = [];
    const run = (name: string, signal: AbortSignal) =>
      room.run("y", 2, signal, "too late", async () => void ran.push(name));
    const first = run("first", ends.signal);
    const second = run("second", new AbortController().signal);
    ends.abort();
    await assert.rejects(first, { name: "FetchError", message: "too late", transient: true });
    await assert.rejects(run("third", ends.signal), { message: "too late" });
    leave();
    await second;
    assert.deepEqual(ran, ["second"]);
  });

  test("takes its time for tens of thousands who wait, of one owner or of many", async () => {
    for (const owners of [1, 20_000]) {
      const room = new Room(64, 24);
      const late = new Set<AbortController>();
      const began = performance.now();
      const all = Array.from({ length: 20_000 }, (_, i) => {
        const end = new AbortController();
        late.add(end);
        return room.run(`o${i % owners}`, 1, end.signal, "late", () => turn()).catch(() => {});
      });
      for (const end of late) end.abort();
      await Promise.all(all);
      assert.ok(performance.now() - began < 3_000);
      await room.run("o1", 64, new AbortController().signal, "late", async () => {});
    }
  });
});
