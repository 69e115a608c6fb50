import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { LabelSets, type LabelValues } from "../../src/telemetry/label-sets.js";

interface Entry {
  readonly values: LabelValues;
}

/** Labels: a policy, and a namespace that requests choose. */
function labelSets(chosen: number, fixed: number): LabelSets<Entry> {
  return new LabelSets<Entry>([1], { chosen, fixed }, (values) => ({ values }));
}

describe("combinations of labels", () => {
  test("are limited: what no longer fits loses what the request chose, and keeps the rest", () => {
    const sets = labelSets(2, 10);
    sets.find(["p", "a"]);
    sets.find(["q", "b"]);
    assert.deepEqual(sets.find(["p", "c"]), { entry: { values: ["p", "other"] }, folded: true });
    assert.deepEqual(sets.find(["q", "d"]), { entry: { values: ["q", "other"] }, folded: true });
    for (let i = 0; i < 1000; i++) sets.find(["p", `namespace-${i}`]);
    assert.equal([...sets.entries()].length, 4);
  });

  test("stay once they are there, so that no counter goes backwards", () => {
    const sets = labelSets(1, 10);
    const { entry } = sets.find(["p", "a"]);
    for (let i = 0; i < 10; i++) sets.find(["p", `namespace-${i}`]);
    assert.equal(sets.find(["p", "a"]).entry, entry);
    assert.equal(sets.find(["p", "a"]).folded, false);
  });

  test("without values that requests chose have their own limit, behind which all is one", () => {
    const sets = labelSets(1, 2);
    sets.find(["p", undefined]);
    sets.find(["q", undefined]);
    assert.deepEqual(sets.find(["r", undefined]), { entry: { values: ["other", "other"] }, folded: true });
    // Requests can't take their places, nor they those of requests.
    assert.equal(sets.find(["r", "a"]).folded, false);
  });

  test("a namespace that is called like the rest is counted with it, not beside it", () => {
    const sets = labelSets(1, 10);
    const { entry } = sets.find(["p", "other"]);
    sets.find(["p", "a"]);
    assert.equal(sets.find(["p", "b"]).entry, entry);
    assert.equal([...sets.entries()].length, 2);
  });

  test("values longer than any name are not kept", () => {
    const sets = labelSets(10, 10);
    assert.equal(sets.find(["p", "n".repeat(253)]).folded, false);
    assert.deepEqual(sets.find(["p", "n".repeat(254)]).entry.values, ["p", "other"]);
  });

  test("what is left out stays left out", () => {
    const sets = new LabelSets<Entry>([1, 2], { chosen: 0, fixed: 10 }, (values) => ({ values }));
    assert.deepEqual(sets.find(["p", undefined, "a"]).entry.values, ["p", undefined, "other"]);
  });
});
