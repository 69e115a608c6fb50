import assert from "node:assert/strict";
import { test } from "node:test";
import { judged } from "./judged.js";

/** A missing field. */
const MISSING = Symbol("missing");

/** A scalar of a pattern, the values that pass and those that fail, as Kyverno 1.19.1 answers (spec kyverno-old.md). */
const ANSWERS: readonly (readonly [unknown, readonly unknown[], readonly unknown[]])[] = [
  ["abc", ["abc", ["abc"], []], ["abd", "", null, MISSING, 5, {}, ["abc", "x"], [["abc"]]]],
  ["a*", ["abc", "a", ["ab", "ac"]], ["", "xa", null, MISSING, 5, true]],
  ["*c", ["abc", "c"], ["cb", "", MISSING]],
  ["*b*", ["abc", "b"], ["ac", MISSING]],
  ["a*c", ["abc", "ac", "a\nc"], ["abd", "xac", "ABC", MISSING]],
  ["a.c", ["a.c"], ["abc"]],
  ["??", ["ab", "é1"], ["a", "abc", MISSING]],
  ["?*", ["a", 0, true, 5.5], ["", null, MISSING, {}]],
  ["*", ["", "a", 0, [], {}], [null, MISSING]],
  ["", [""], ["a", 0, false, null, MISSING]],
  [" abc ", ["abc", " abc "], ["abc "]],
  ["abc | def", ["abc", "def", "abc | def"], ["ghi", "", null, MISSING]],
  ["a* & *z", ["az", "abz", "a&z"], ["ab", "bz", MISSING]],
  ["!abc & !def", ["ghi", "", 5, "abc & def"], ["abc", "def", null, MISSING, {}]],
  ["!abc | def", ["def", "ghi", ""], ["abc", MISSING]],
  ["!a*", ["", "xa", 5, true], ["abc", "a", null, MISSING, {}]],
  ["!?*", [""], ["x", 0, null, MISSING]],
  ["!!a", ["a", "b"], ["!a"]],
  ["a* &", [], ["a", "ab", "", MISSING]],
  ["abc |", ["abc", ""], ["x", MISSING]],
  ["true", [true, "true"], [false, "x", null, MISSING]],
  ["!true", [false, "false", 1, ""], [true, "true", null, MISSING]],
  [true, [true, [true]], [false, "true", 1, null, MISSING]],
  [false, [false], [true, "false", 0, "", null, MISSING]],
  [5, [5, "5"], [6, "5.0", "x", true, null, MISSING]],
  [12_345_678, [12_345_678, "12345678"], [1, MISSING]],
  [2.5, [2.5, "2.50"], [2, MISSING]],
  [null, [null, MISSING, "", 0, false, []], ["null", {}, 1]],
  ["5", [5, "5", "5000m", "5.0"], [6, 4.5, "abc", null, MISSING, true]],
  ["!5", [6, "abc", null, MISSING, true], [5, "5", "5000m"]],
  [">5", [6, "7", 5.5], [5, "abc", null, MISSING, true]],
  [">=5", [5, "6"], [4.5, "abc", null, MISSING]],
  ["<=5", [5, "4", null, MISSING], [6, "abc", true]],
  ["<5", [4.5, -1, null, MISSING], [5, "6"]],
  [">-2", [-1, 0, "-1", null, MISSING], [-2, "-3"]],
  ["1-5", [1, 5, "3"], [0, 6, "5.5", null, MISSING]],
  ["-5--1", [-5, "-2"], [0, -6, MISSING]],
  ["1!-5", [0, 6, "7", null, MISSING], [1, 5, "3", "x"]],
  ["1 - 5", ["1 - 5"], [3, MISSING]],
  ["1-3 | 7-9", [1, 3, "8"], [4, 10, MISSING]],
  [">5 & <10", [6, "7"], [5, 10, "abc", MISSING]],
  ["5 | abc | >100", [5, "5", "abc", 101], [100, "x", MISSING]],
  ["1Gi", ["1Gi", "1024Mi", 1_073_741_824, "1073741824"], ["1G", "x", null, MISSING]],
  ["!1Gi", ["2Gi", "x", 0, null, MISSING], ["1Gi", "1024Mi"]],
  ["<=1Gi", ["512Mi", 5, null, MISSING], ["2Gi", "big"]],
  ["100Mi-1Gi", ["512Mi", "200M", 104_857_600], ["99Mi", "x", MISSING]],
  ["500m", ["500m", 0.5, "0.5"], ["1", "x", MISSING]],
  [">=1e3", [1000, "1k"], [999, MISSING]],
  ["1h", ["1h", "60m", "3600s"], [3600, "x", null, MISSING]],
  ["<=1h", ["60m", "0", null, MISSING], ["61m", 3600, "x"]],
  ["!60s", ["61s", "x", 60, null, MISSING], ["60s", "1m"]],
  ["10s!-1m", ["9s", "61s", 30, null, MISSING], ["10s", "1m", "x"]],
  [">1.2.3", [], ["1.2.4", "1.2.3", 2, MISSING]],
  [">", [">"], [1, "", MISSING]],
];

for (const [pattern, passing, failing] of ANSWERS)
  test(`${JSON.stringify(pattern)} passes and fails as in Kyverno`, () => {
    const objects = (values: readonly unknown[]) =>
      values.map((v) => ({ kind: "Widget", spec: v === MISSING ? {} : { v } }));
    const ask = (values: readonly unknown[]) => judged({ spec: { v: pattern } }, "widgets", objects(values));
    assert.deepEqual(
      [...ask(passing)].filter((answer) => answer !== "pass"),
      [],
      "passing",
    );
    const answers = ask(failing);
    assert.deepEqual(
      failing.filter((_, index) => answers[index] === "pass"),
      [],
      "failing",
    );
  });

test("as a condition a scalar is never an error: objects of other types are skipped", () => {
  for (const [pattern, passing, failing] of ANSWERS) {
    const objects = (values: readonly unknown[]) =>
      values.map((v) => ({ spec: v === MISSING ? {} : { v }, kind: "X" }));
    const ask = (values: readonly unknown[]) =>
      judged({ spec: { "(v)": pattern }, kind: "Widget" }, "widgets", objects(values));
    const there = passing.filter((value) => value !== MISSING && value !== null && pattern !== "*");
    assert.ok(
      ask(there).every((answer) => answer.endsWith("at path /kind/")),
      `${pattern}`,
    );
    const others = failing.filter((value) => value !== null && typeof value !== "number");
    const answers = ask(others);
    assert.deepEqual(
      others.filter((_, index) => answers[index] !== "pass"),
      [],
      `${pattern}`,
    );
  }
});
