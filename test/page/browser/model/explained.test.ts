import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { DiffLine, ExplainedValue } from "../../../../src/kinds/explanation/types.js";
import { diffCounts, diffRows } from "../../../../src/page/browser/model/diff-rows.js";
import { markSource, valuesOf } from "../../../../src/page/browser/model/marked-source.js";
import { duration, lookOf, lookOfValue, verdictOf } from "../../../../src/page/browser/model/outcomes.js";
import { codeOf, messageOf } from "../../../../src/page/browser/model/response.js";

function part(
  from: number | undefined,
  to: number | undefined,
  value: string,
  ...parts: ExplainedValue[]
): ExplainedValue {
  const place = from === undefined || to === undefined ? {} : { from, to };
  return { ...place, text: "", value, failed: false, parts };
}

describe("an expression's parts in its source", () => {
  test("parts lie in each other as they were written", () => {
    const [whole, ...others] = markSource(
      "ab.c == d",
      part(0, 9, "true", part(0, 4, "1", part(0, 2, "{}")), part(8, 9, "1")),
    );
    assert.deepEqual(others, []);
    assert.deepEqual(
      whole?.inner.map(({ from, to, inner }) => [from, to, inner.length]),
      [
        [0, 4, 1],
        [8, 9, 0],
      ],
    );
  });

  test("a part that was evaluated several times is one part with several values", () => {
    const [whole] = markSource(
      "l.all(c, c)",
      part(0, 11, "false", part(9, 10, "true"), part(9, 10, "false"), part(9, 10, "true")),
    );
    assert.equal(whole?.inner.length, 1);
    assert.equal(whole?.inner[0] && valuesOf(whole.inner[0]), "true | false");
  });

  test("what has no place, is outside, turned round or across another part is left out; what lies in it is not", () => {
    const odd = part(
      undefined,
      undefined,
      "x",
      part(0, 1, "kept"),
      part(3, 2, "x"),
      part(-1, 2, "x"),
      part(4, 99, "x"),
    );
    const marked = markSource("abcdef", part(0, 4, "root", odd, part(2, 6, "across")));
    assert.deepEqual(
      marked.map(({ from, to, inner }) => [from, to, inner.map((each) => [each.from, each.to])]),
      [[0, 4, [[0, 1]]]],
    );
  });

  test("thousands of parts in each other are no trouble", () => {
    let value = part(0, 1, "x");
    for (let to = 2; to <= 5000; to += 1) value = part(0, to, "x", value);
    assert.equal(markSource("x".repeat(5000), value).length, 1);
  });
});

describe("a difference", () => {
  const line = (kind: DiffLine["kind"], text: string): DiffLine => ({ kind, text });
  const same = (count: number) => Array.from({ length: count }, (_, index) => line("same", String(index)));

  test("what is far from every change is folded", () => {
    const rows = diffRows([...same(10), line("added", "x"), ...same(3), line("removed", "y"), ...same(9)]);
    const folded = rows.map((row) => (row.kind === "folded" ? row.lines.length : row.kind));
    assert.deepEqual(folded, [
      7,
      "same",
      "same",
      "same",
      "added",
      "same",
      "same",
      "same",
      "removed",
      "same",
      "same",
      "same",
      6,
    ]);
  });

  test("two lines are not worth folding, and nothing is lost", () => {
    assert.equal(diffRows([...same(5), line("added", "x")]).length, 6);
    assert.deepEqual(diffRows([]), []);
    assert.deepEqual(
      diffRows(same(4)).map(({ kind }) => kind),
      ["folded"],
    );
  });

  test("what is added and removed is counted", () => {
    assert.deepEqual(diffCounts([line("added", ""), line("added", ""), line("removed", ""), line("same", "")]), {
      added: 2,
      removed: 1,
    });
  });
});

describe("the words of an answer", () => {
  test("a verdict is told of the request: an error that is let through, too", () => {
    assert.equal(verdictOf(true, "allow").word, "Allowed");
    assert.equal(verdictOf(false, "deny").word, "Denied");
    assert.equal(verdictOf(false, "error").word, "Error, denied");
    assert.equal(verdictOf(true, "error").word, "Error, let through");
    assert.equal(verdictOf(true, "skip").word, "Does not apply");
    assert.equal(verdictOf(false, "skip").word, "Denied");
    assert.equal(verdictOf(false, "allow").word, "Denied");
  });

  test("every look has a symbol and a word", () => {
    for (const outcome of ["allow", "deny", "error", "skip", "not evaluated", "no answer"] as const) {
      assert.ok(lookOf(outcome).symbol !== "" && lookOf(outcome).word !== "");
    }
    assert.equal(lookOf("later" as "allow").word, "later");
    assert.equal(lookOfValue("true", false).tone, "good");
    assert.equal(lookOfValue(undefined, false).tone, "unasked");
    assert.equal(lookOfValue("no such key", true).tone, "failed");
  });

  test("times are for people", () => {
    assert.deepEqual([0.042, 0.5, 3.14, 12.6, 1500].map(duration), ["0.04 ms", "0.5 ms", "3.1 ms", "13 ms", "1.5 s"]);
  });

  test("code and message are read of a review, of its response, of nothing", () => {
    const response = { status: { code: 403, message: "no" } };
    assert.deepEqual([codeOf({ response }), messageOf({ response })], [403, "no"]);
    assert.deepEqual([codeOf(response), messageOf(response)], [403, "no"]);
    for (const odd of [undefined, null, 1, [], {}, { response: null }, { status: { code: "403", message: "" } }]) {
      assert.deepEqual([codeOf(odd), messageOf(odd)], [undefined, undefined]);
    }
  });
});
