import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { standingWebhooks } from "../../../src/cluster/webhooks/configuration.js";
import { type Intended, writeConfigurations } from "../../../src/cluster/webhooks/write.js";
import { ApiError } from "../../../src/kubernetes/client/errors.js";
import { FakeStore } from "./fakes.js";

const SIGNAL = new AbortController().signal;
const IDENTITY = { base: "s", labels: {} };

/** Large enough that an object holds three. */
const webhook = (name: string): Intended => ({
  type: "validating",
  name,
  raw: { name, text: "x".repeat(400_000) },
});

async function write(store: FakeStore, ...names: readonly string[]) {
  const objects = await store.list("validating");
  return writeConfigurations({
    store,
    found: new Map([["validating", objects]]),
    standing: objects.flatMap((each) => standingWebhooks("validating", each)),
    intended: names.map(webhook),
    identity: IDENTITY,
    signal: SIGNAL,
  });
}

describe("what is written", () => {
  test("has all that come before the first that goes, where they stand in different objects", async () => {
    const store = new FakeStore();
    await write(store, "a", "b", "c", "d");
    assert.deepEqual(store.standing, { "validating s-1": ["a", "b", "c"], "validating s-2": ["d"] });
    const seen: string[][] = [];
    const apply = store.apply.bind(store);
    store.apply = async (type, configuration) => {
      const live = await apply(type, configuration);
      seen.push(Object.values(store.standing).flat().sort());
      return live;
    };
    // Where `a` and `d` stood come `x`, `y` and `z`.
    await write(store, "b", "c", "x", "y", "z");
    const everything = ["x", "y", "z"];
    const gone = seen.findIndex((names) => !names.includes("a") || !names.includes("d"));
    assert.ok(gone > 0);
    assert.ok(everything.every((name) => seen[gone - 1]?.includes(name)));
    assert.deepEqual(Object.values(store.standing).flat().sort(), ["b", "c", ...everything]);
  });

  test("removes what is empty, also where somebody else has removed it meanwhile", async () => {
    const store = new FakeStore();
    await write(store, "a", "b", "c", "d");
    const { changed } = await write(store, "d");
    assert.equal(changed, 1);
    assert.deepEqual(store.standing, { "validating s-2": ["d"] });
    store.remove = async () => {
      throw new ApiError(404, "NotFound", "gone");
    };
    await write(store);
  });
});
