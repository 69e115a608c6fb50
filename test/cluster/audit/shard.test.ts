import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { shardOf } from "../../../src/cluster/audit/auditor.js";

const uids = Array.from({ length: 3_000 }, (_, i) => `${i}-4000-8000-${i * 7}`);
const owners = (live: readonly string[]) => {
  const shards = live.map((name) => ({ name, isOwn: shardOf(live, name) }));
  return uids.map((uid) => shards.filter(({ isOwn }) => isOwn(uid)).map(({ name }) => name));
};

describe("replicas' parts of a cluster", () => {
  test("are whole, apart, and about as large as each other", () => {
    const all = owners(["a", "b", "c"]);
    assert.ok(
      all.every((names) => names.length === 1),
      "each object is of one",
    );
    for (const name of ["a", "b", "c"]) {
      const count = all.filter(([own]) => own === name).length;
      assert.ok(count > 800 && count < 1_200, `${name} has ${count}`);
    }
  });

  test("keep what they have when one comes", () => {
    const [before, after] = [owners(["a", "b"]), owners(["a", "b", "c"])];
    assert.ok(after.every(([own], i) => own === "c" || own === before[i]?.[0]));
  });

  test("of the only one, and of one that nobody knows, are everything", () => {
    assert.ok(uids.every(shardOf(["a"], "a")));
    assert.ok(uids.every(shardOf(["b", "c"], "a")));
    assert.ok(uids.every(shardOf([], "a")));
  });
});
