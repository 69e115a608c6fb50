import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { evaluate } from "../support/evaluate.js";

const int = (value: number) => ({ int: String(value) });
const ints = (...values: readonly number[]) => ({ list: values.map(int) });
const bool = (value: boolean) => ({ bool: value });

const TABLES: Readonly<Record<string, readonly (readonly [string, unknown])[]>> = {
  "lists in Kubernetes": [
    ["[].sum()", int(0)],
    ["[1u, 2u].sum()", { uint: "3" }],
    ["[duration('1s'), duration('2s')].sum()", { duration: "3s" }],
    ["[9223372036854775807, 1].sum()", "integer overflow"],
    ["[dyn(1), dyn('a')].sum()", "no such overload"],
    ["[1, 3, 2].max()", int(3)],
    ["[double('nan'), 1.0].max()", { double: "NaN" }],
    ["['é', '😀', '\\uffff'].max()", { string: "😀" }],
    ["[dyn(1)].filter(x, false).min()", "min called on empty list"],
    ["[1, 2, 1].lastIndexOf(1)", int(2)],
    ["[dyn(1), dyn('a')].isSorted()", bool(true)],
    ["[2, 1].isSorted()", bool(false)],
    ["'x'.includes('x')", bool(true)],
    ["[dyn(1)].includes(1.0)", bool(true)],
  ],
  "the lists extension": [
    ["[1, 2, 3].slice(0, 4)", "cannot slice(0, 4), list is length 3"],
    ["[1, 2, 3].slice(-1, 2)", "cannot slice(-1, 2), negative indexes not supported"],
    ["[1, 2, 3].slice(2, 1)", "cannot slice(2, 1), start index must be less than or equal to end index"],
    ["[[1], [2, 3]].flatten()", ints(1, 2, 3)],
    ["dyn(1).flatten()", "no such overload: int.flatten()"],
    ["[3, 1, 2].sort()", ints(1, 2, 3)],
    ["[dyn(1), dyn('a')].sort()", "list elements must have the same type"],
    ["dyn([null]).sort()", "list elements must be comparable"],
    ["dyn(1).sort()", "no such overload: sort"],
    ["[1, 2, 3].sortBy(x, -x)", ints(3, 2, 1)],
    ["lists.range(3).reverse()", ints(2, 1, 0)],
    ["lists.range(-1)", "lists.range: size must be non-negative, got -1"],
    ["lists.range(1000001)", "lists.range: size 1000001 exceeds maximum allowed (1000000)"],
    ["[dyn(1), dyn(1.0), dyn(1u), dyn(true)].distinct()", { list: [int(1), bool(true)] }],
    ["[double('nan'), double('nan')].distinct().size()", int(2)],
    ["[].first()", { optional: null }],
    ["[1, 2].last()", { optional: int(2) }],
  ],
  sets: [
    ["sets.contains([1, 2], [dyn(2.0)])", bool(true)],
    ["sets.contains([[1]], [[1]])", bool(true)],
    ["sets.equivalent([1, 1, 2], [2, 1])", bool(true)],
    ["sets.intersects([], [])", bool(false)],
    ["sets.intersects([timestamp(0)], [timestamp(1), timestamp(0)])", bool(true)],
  ],
  optionals: [
    ["optional.none().value()", "optional.none() dereference"],
    ["optional.of(null).value()", { null: true }],
    ["optional.ofNonZeroValue(timestamp(0))", { optional: { timestamp: "1970-01-01T00:00:00Z" } }],
    ["optional.ofNonZeroValue(timestamp('0001-01-01T00:00:00Z'))", { optional: null }],
    ["optional.ofNonZeroValue(-0.0)", { optional: null }],
    ["optional.ofNonZeroValue(optional.none())", { optional: { optional: null } }],
    ["optional.unwrap([optional.of(1), optional.none()])", ints(1)],
    ["optional.unwrap([dyn(optional.of(1)), dyn(2)])", "value 2 is not optional"],
    ["optional.unwrap(dyn([1]))", "no such overload: optional.unwrap(list)"],
  ],
};

for (const [name, table] of Object.entries(TABLES)) {
  describe(name, () => {
    for (const [source, result] of table) test(source, () => assert.deepEqual(evaluate(source), result));
  });
}

describe("lists of thousands", () => {
  const limit = "operation cancelled: a value or pattern is too large";

  test("of numbers and strings are looked through once", () => {
    assert.deepEqual(evaluate("lists.range(200000).distinct().size()", "standard"), int(200_000));
    assert.deepEqual(
      evaluate(
        "sets.contains(lists.range(200000).map(x, string(x)), lists.range(200000).map(x, string(x)))",
        "standard",
      ),
      bool(true),
    );
  });

  test("of lists end in an error before everything is compared with everything", () => {
    assert.equal(evaluate("lists.range(20000).map(x, [x]).distinct().size()", "standard"), limit);
    assert.equal(
      evaluate("sets.contains(lists.range(20000).map(x, [x]), lists.range(20000).map(x, [x]).reverse())", "standard"),
      limit,
    );
  });
});
