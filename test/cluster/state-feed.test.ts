import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ClusterState } from "../../src/cluster/cluster-state.js";
import type { WatchedItem } from "../../src/cluster/sources/items.js";
import { StateFeed } from "../../src/cluster/state-feed.js";
import type { ClusterDelta, PolicySetRoute } from "../../src/config/from-cluster/cluster-document.js";
import { TestClock } from "../support/test-clock.js";
import { keptLog } from "./approver/support.js";

class TestSources {
  complete = true;
  unread: { resource: string; why: string }[] = [];
  readonly items = new Map<string, WatchedItem>();

  put(key: string, text = key): string {
    const document = { key, uid: key, resourceVersion: "1", generation: 1, text };
    this.items.set(key, { document, status: undefined });
    return key;
  }
  item(key: string): WatchedItem | undefined {
    return this.items.get(key);
  }
  *documents() {
    for (const { document } of this.items.values()) yield document;
  }
}

function feedOf(sources: TestSources) {
  const clock = new TestClock();
  const deltas: ClusterDelta[] = [];
  const states: ClusterState[] = [];
  const { logger, lines } = keptLog();
  const test = { sets: [] as PolicySetRoute[] | Error, serve: (): Promise<void> => Promise.resolve() };
  const feed = new StateFeed({
    ...{ clock, sources, log: logger },
    serving: {
      evaluations: 0,
      serve: async (delta) => {
        deltas.push(delta);
        await test.serve();
        return [];
      },
    },
    setsOf: () => {
      if (test.sets instanceof Error) throw test.sets;
      return test.sets;
    },
    served: (state) => states.push(state),
  });
  const short = () =>
    deltas.map(({ version, base, put, removed }) => ({ version, base, put: put.map(({ key }) => key), removed }));
  const settle = async (milliseconds = 50): Promise<void> => {
    clock.move(milliseconds);
    for (let turns = 0; turns < 10; turns++) await Promise.resolve();
  };
  return Object.assign(test, { feed, clock, deltas, states, short, settle, lines });
}

describe("what those who serve are told", () => {
  test("is nothing before everything is known, then everything", async () => {
    const sources = new TestSources();
    sources.complete = false;
    const { feed, short, settle, states } = feedOf(sources);
    feed.changed([sources.put("a")]);
    await settle();
    assert.deepEqual(short(), []);
    sources.put("b");
    sources.complete = true;
    feed.look();
    await settle();
    assert.deepEqual(short(), [{ version: 1, base: 0, put: ["a", "b"], removed: [] }]);
    assert.deepEqual([...(states[0]?.documents.keys() ?? [])], ["a", "b"]);
  });

  test("an empty cluster is a state, too", async () => {
    const { feed, short, settle } = feedOf(new TestSources());
    feed.look();
    await settle();
    assert.deepEqual(short(), [{ version: 1, base: 0, put: [], removed: [] }]);
  });

  test("is what has changed within 50 ms, as one change", async () => {
    const sources = new TestSources();
    sources.put("a");
    const { feed, short, settle, deltas } = feedOf(sources);
    feed.look();
    await settle();
    feed.changed([sources.put("b")]);
    await settle(49);
    feed.changed([sources.put("a", "other")]);
    sources.items.delete("b");
    feed.changed(["b"]);
    await settle(1);
    assert.deepEqual(short().slice(1), [{ version: 2, base: 1, put: ["a"], removed: [] }]);
    assert.equal(deltas[1]?.put[0]?.text, "other");
    // What came and went meanwhile was never there.
    sources.items.delete("a");
    feed.changed(["a", "b"]);
    await settle();
    assert.deepEqual(short().slice(2), [{ version: 3, base: 2, put: [], removed: ["a"] }]);
  });

  test("one change is under way at a time; what comes meanwhile makes the next one", async () => {
    const sources = new TestSources();
    const fed = feedOf(sources);
    fed.feed.look();
    await fed.settle();
    let done = (): void => {};
    fed.serve = () => new Promise((resolve) => (done = resolve));
    fed.feed.changed([sources.put("a")]);
    await fed.settle();
    fed.feed.changed([sources.put("b")]);
    fed.feed.changed([sources.put("c")]);
    await fed.settle(1000);
    assert.equal(fed.deltas.length, 2);
    assert.equal(fed.states.length, 1);
    done();
    fed.serve = () => Promise.resolve();
    await fed.settle(0);
    await fed.settle();
    assert.deepEqual(fed.short().slice(1), [
      { version: 2, base: 1, put: ["a"], removed: [] },
      { version: 3, base: 2, put: ["b", "c"], removed: [] },
    ]);
    assert.equal(fed.states.length, 3);
  });

  test("nothing is told when nothing is another; sets alone may be", async () => {
    const sources = new TestSources();
    sources.put("a");
    const fed = feedOf(sources);
    fed.feed.look();
    await fed.settle();
    fed.feed.changed(["a"]);
    await fed.settle();
    assert.equal(fed.deltas.length, 1);
    fed.sets = [{ hash: "0123456789abcdef", members: ["a"] }];
    fed.feed.look();
    await fed.settle();
    assert.deepEqual(fed.deltas[1], { version: 2, base: 1, put: [], removed: [], sets: fed.sets });
    assert.deepEqual(fed.states[1]?.sets, fed.sets);
  });

  test("where sets cannot be found out they stay as they were, and policies change all the same", async () => {
    const sources = new TestSources();
    const fed = feedOf(sources);
    const set = { hash: "a", members: ["x"] };
    fed.sets = [set];
    fed.feed.look();
    await fed.settle();
    fed.sets = new Error("sets");
    fed.feed.changed([sources.put("a")]);
    await fed.settle();
    assert.deepEqual(fed.short().at(-1), { version: 2, base: 1, put: ["a"], removed: [] });
    assert.deepEqual(fed.states.at(-1)?.sets, [set]);
    assert.equal(fed.lines.filter(({ level }) => level === "error").length, 1);
  });

  test("sets that webhooks may still name are answered for five minutes more", async () => {
    const fed = feedOf(new TestSources());
    const [old, other] = [
      { hash: "b", members: ["x"] },
      { hash: "a", members: ["x", "y"] },
    ];
    fed.sets = [old];
    fed.feed.look();
    await fed.settle();
    fed.sets = [other];
    fed.feed.look();
    await fed.settle();
    assert.deepEqual(fed.deltas.at(-1)?.sets, [other, old]);
    await fed.settle(299_000);
    assert.equal(fed.deltas.length, 2);
    await fed.settle(2000);
    await fed.settle();
    assert.deepEqual(fed.deltas.at(-1)?.sets, [other]);
    // One that is there again is not forgotten when its time comes.
    fed.sets = [other, old];
    fed.feed.look();
    await fed.settle();
    await fed.settle(400_000);
    await fed.settle();
    assert.deepEqual(fed.states.at(-1)?.sets, [other, old]);
  });

  test("a kind that comes later and cannot be read holds up nobody, and is told of", async () => {
    const sources = new TestSources();
    const { feed, short, settle, states } = feedOf(sources);
    feed.look();
    await settle();
    sources.complete = false;
    sources.unread = [{ resource: "others", why: "forbidden" }];
    feed.look();
    await settle();
    assert.deepEqual(states.at(-1)?.unread, ["others"]);
    feed.changed([sources.put("a")]);
    await settle();
    assert.deepEqual(short().slice(1), [{ version: 2, base: 1, put: ["a"], removed: [] }]);
  });
});
