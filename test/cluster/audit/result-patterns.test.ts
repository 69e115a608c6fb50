import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ResultPatterns } from "../../../src/cluster/audit/result-patterns.js";

describe("sets of results", () => {
  test("are shared by objects that have the same", () => {
    const patterns = new ResultPatterns();
    const good = patterns.numberOf([
      ["a", "pass"],
      ["b", "pass"],
    ]);
    const bad = patterns.numberOf([
      ["a", "pass"],
      ["b", "fail"],
    ]);
    assert.notEqual(good, bad);
    assert.equal(
      patterns.numberOf([
        ["a", "pass"],
        ["b", "pass"],
      ]),
      good,
    );
    for (let i = 0; i < 3; i++) patterns.count(good);
    patterns.count(bad);
    const counted = [...patterns.counted()].map(({ results, objects }) => [Object.fromEntries(results), objects]);
    assert.deepEqual(counted, [
      [{ a: "pass", b: "pass" }, 3],
      [{ a: "pass", b: "fail" }, 1],
    ]);
  });

  test("are as many as there may be, and give way when nobody has them", () => {
    const patterns = new ResultPatterns(2);
    const first = patterns.numberOf([["a", "pass"]]);
    assert.notEqual(patterns.numberOf([["a", "fail"]]), 0);
    assert.equal(patterns.numberOf([["a", "error"]]), 0);
    patterns.begin();
    patterns.count(first);
    patterns.forgetOthers();
    assert.notEqual(patterns.numberOf([["a", "error"]]), 0);
    assert.equal(patterns.numberOf([["a", "pass"]]), first);
  });
});
