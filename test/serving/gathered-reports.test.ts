import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { LoadedPolicyReport } from "../../src/config/from-cluster/cluster-document.js";
import { GatheredReports } from "../../src/serving/gathered-reports.js";

const report = (key: string, state: LoadedPolicyReport["state"], generation = 1): LoadedPolicyReport => ({
  ...{ id: key, key, generation, state, problems: [] },
});

/** Reports of one process after the other, each whole or what has changed. */
function gathered() {
  const reports = new GatheredReports();
  const says = (...all: readonly [id: number, isWhole: boolean, ...reports: LoadedPolicyReport[]][]) =>
    reports.take(all.map(([id, isWhole, ...own]) => [{ id }, { reports: own, isWhole }]));
  return { reports, says };
}

describe("what became of a cluster's policies in all processes", () => {
  test("the worst that one of them says counts, until it says otherwise", () => {
    const { says } = gathered();
    assert.deepEqual(says([1, true, report("a", "loaded")], [2, true, report("a", "unavailable")]), [
      report("a", "unavailable"),
    ]);
    // What the one says that has got it later changes nothing for those who ask the other.
    assert.deepEqual(says([1, false, report("a", "loaded")]), []);
    assert.deepEqual(says([2, false, report("a", "loaded")]), [report("a", "loaded")]);
  });

  test("of a new version there is one report, whoever has loaded it first", () => {
    const { says } = gathered();
    says([1, true, report("a", "unavailable")], [2, true, report("a", "unavailable")]);
    assert.deepEqual(says([1, false, report("a", "loaded", 2)], [2, false, report("a", "last-good", 2)]), [
      report("a", "last-good", 2),
    ]);
    assert.deepEqual(says([1, false, report("a", "last-good", 3)]), [report("a", "last-good", 3)]);
  });

  test("one that ends takes what it said along, and its successor says everything", () => {
    const { reports, says } = gathered();
    says([1, true, report("a", "loaded"), report("b", "loaded")], [2, true, report("a", "unavailable")]);
    assert.deepEqual(reports.ended(2), [report("a", "loaded")]);
    // With nobody left it stays as it was.
    assert.deepEqual(reports.ended(1), []);
    assert.deepEqual(says([3, true, report("a", "loaded"), report("b", "last-good"), report("c", "loaded")]), [
      report("b", "last-good"),
      report("c", "loaded"),
    ]);
  });

  test("what is gone from the cluster is forgotten, and told anew when it is back", () => {
    const { reports, says } = gathered();
    says([1, true, report("a", "loaded")]);
    reports.keepOnly(() => false);
    assert.deepEqual(reports.ended(1), []);
    assert.deepEqual(says([2, false, report("a", "loaded")]), [report("a", "loaded")]);
  });
});
