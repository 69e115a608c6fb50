import assert from "node:assert/strict";
import { test } from "node:test";
import { conditionsHold } from "../../../../../src/kinds/kyverno/convert/conditions/conditions.js";
import { refusal, resultOf as valueFor } from "../converted.js";

/** Keys of all types. */
const KEYS: readonly unknown[] = [
  ...[null, true, false, 0, 1, 5, 5.5, -2, 3600, 60, 100, 1e6, "5", "5.0", "7200", "abc", "Abc", "", "a*", "*", "?b"],
  ...["ab", "1Gi", "1024Mi", "1073741824", "500m", "1h", "60m", "3600s", "1h30m", "10m", "0.01", "1.2.3", "1.10.0"],
  ...["v1.2.3", "1-10", "8", '["a","b"]', "true", "a b", [], ["abc"], ["a", "b"], ["b", "a"], ["a*"], ["zz"]],
  ...[["a", "zz"], [1, 2], [5], [5, 20], [11, 20], ["1", "x"], [true], ["5"], {}, { a: "x" }, { a: 1 }],
  { a: "x", b: "y" },
];

/** The keys for which a condition holds, or those for which it does not, of all keys: as Kyverno 1.19.1 answers. */
const ANSWERS: readonly (readonly [string, unknown, "holds" | "not", readonly unknown[]])[] = [
  [
    "Equals",
    "*",
    "holds",
    [
      "abc",
      "Abc",
      "",
      "a*",
      "*",
      "?b",
      "ab",
      "1h",
      "3600s",
      "1h30m",
      "1.2.3",
      "1.10.0",
      "v1.2.3",
      "1-10",
      '["a","b"]',
      "true",
      "a b",
    ],
  ],
  ["Equals", "3600s", "holds", ["1h", "60m", "3600s"]],
  ["Equals", "500m", "holds", ["500m"]],
  ["Equals", "7200", "holds", ["7200"]],
  ["Equals", "abc", "holds", ["abc"]],
  ["Equals", 1, "holds", [1]],
  ["Equals", ["a", "b"], "holds", [["a", "b"]]],
  ["Equals", false, "holds", [false]],
  ["NotEquals", "5", "not", [null, 5, "5", "5.0"]],
  [
    "NotEquals",
    "?*",
    "not",
    [
      null,
      "abc",
      "Abc",
      "a*",
      "*",
      "?b",
      "ab",
      "1h",
      "3600s",
      "1h30m",
      "1.2.3",
      "1.10.0",
      "v1.2.3",
      "1-10",
      '["a","b"]',
      "true",
      "a b",
    ],
  ],
  ["NotEquals", "60m", "not", [null, "1h", "60m", "3600s"]],
  ["NotEquals", { a: 1 }, "not", [null]],
  ["NotEquals", ["5"], "not", [null, ["5"]]],
  ["AnyIn", "*b*", "holds", ["abc", "Abc", "?b", "ab", '["a","b"]', "a b", ["abc"], ["a", "b"], ["b", "a"]]],
  ["AnyIn", "1Gi-2Gi", "holds", ["1Gi", "1024Mi", "1073741824"]],
  ["AnyIn", "5.0", "holds", ["5.0"]],
  ["AnyIn", '["5","1"]', "holds", [1, 5, "5", [1, 2], [5], [5, 20], ["1", "x"], ["5"]]],
  ["AnyIn", "true", "holds", [true, "true", [true]]],
  [
    "AnyIn",
    1,
    "holds",
    [
      [1, 2],
      ["1", "x"],
    ],
  ],
  ["AnyIn", ["abc", "x*"], "holds", ["abc", "a*", "*", ["abc"], ["a*"], ["1", "x"]]],
  ["AnyIn", [], "holds", []],
  [
    "AllIn",
    "-5-10",
    "holds",
    [0, 1, 5, 5.5, -2, "5", "5.0", "500m", "60m", "10m", "0.01", "8", [], [1, 2], [5], ["5"]],
  ],
  ["AllIn", "ab", "holds", ["ab", [], ["a*"]]],
  ["AllIn", [1, "a"], "holds", [1, "a*", "*", [], ["a*"]]],
  ["AllIn", [5, 20], "holds", [5, "5", "*", [], [5], [5, 20], ["5"]]],
  ["AllIn", "7200", "holds", ["7200"]],
  [
    "AnyNotIn",
    "-5-10",
    "not",
    [
      null,
      0,
      1,
      5,
      5.5,
      -2,
      "5",
      "5.0",
      "500m",
      "60m",
      "10m",
      "0.01",
      "8",
      [],
      {},
      { a: "x" },
      { a: 1 },
      { a: "x", b: "y" },
    ],
  ],
  [
    "AnyNotIn",
    0,
    "holds",
    [
      ["abc"],
      ["a", "b"],
      ["b", "a"],
      ["a*"],
      ["zz"],
      ["a", "zz"],
      [1, 2],
      [5],
      [5, 20],
      [11, 20],
      ["1", "x"],
      [true],
      ["5"],
    ],
  ],
  ["AnyNotIn", ["?*"], "holds", [""]],
  [
    "AnyNotIn",
    ["a", "zz"],
    "not",
    [null, "a*", "*", [], ["a*"], ["zz"], ["a", "zz"], {}, { a: "x" }, { a: 1 }, { a: "x", b: "y" }],
  ],
  ["AnyNotIn", "*", "holds", []],
  ["AnyNotIn", "7200", "holds", []],
  ["AnyNotIn", ["1-5", "8"], "not", [null, "*", "8", [], {}, { a: "x" }, { a: 1 }, { a: "x", b: "y" }]],
  [
    "AllNotIn",
    "1*",
    "not",
    [
      null,
      1,
      100,
      1e6,
      "1Gi",
      "1024Mi",
      "1073741824",
      "1h",
      "1h30m",
      "10m",
      "1.2.3",
      "1.10.0",
      "1-10",
      [1, 2],
      [11, 20],
      ["1", "x"],
      {},
      { a: "x" },
      { a: 1 },
      { a: "x", b: "y" },
    ],
  ],
  ["AllNotIn", ["5"], "not", [null, 5, "5", "*", [5], [5, 20], ["5"], {}, { a: "x" }, { a: 1 }, { a: "x", b: "y" }]],
  [
    "AllNotIn",
    ["abc", "x*"],
    "not",
    [null, "abc", "a*", "*", ["abc"], ["a*"], ["1", "x"], {}, { a: "x" }, { a: 1 }, { a: "x", b: "y" }],
  ],
  [
    "AllNotIn",
    [5, 20],
    "not",
    [null, 5, "5", "*", [5], [5, 20], [11, 20], ["5"], {}, { a: "x" }, { a: 1 }, { a: "x", b: "y" }],
  ],
  [
    "GreaterThan",
    ".5",
    "holds",
    [1, 5, 5.5, 3600, 60, 100, 1e6, "5", "5.0", "7200", "1Gi", "1024Mi", "1073741824", "8"],
  ],
  ["GreaterThan", "3600s", "holds", [1e6, "7200", "1073741824", "500m", "1h30m"]],
  ["GreaterThan", 5000, "holds", [1e6, "7200", "1073741824", "500m", "1h30m"]],
  ["GreaterThan", "v1.2.3", "holds", []],
  [
    "GreaterThanOrEquals",
    "0.01",
    "holds",
    [
      1,
      5,
      5.5,
      3600,
      60,
      100,
      1e6,
      "5",
      "5.0",
      "7200",
      "1Gi",
      "1024Mi",
      "1073741824",
      "500m",
      "60m",
      "10m",
      "0.01",
      "8",
    ],
  ],
  ["GreaterThanOrEquals", "1Gi", "holds", ["1Gi", "1024Mi", "1073741824"]],
  ["LessThan", "1.10.0", "holds", ["1.2.3"]],
  ["LessThan", "1h", "holds", [0, 1, 5, 5.5, -2, 60, 100, "5", "5.0", "10m", "0.01", "8"]],
  ["LessThan", 5, "holds", [0, 1, -2, "0.01"]],
  [
    "LessThanOrEquals",
    "500m",
    "holds",
    [0, 1, 5, 5.5, -2, 3600, 60, 100, "500m", "1h", "60m", "3600s", "1h30m", "10m", "0.01"],
  ],
  ["LessThanOrEquals", 5, "holds", [0, 1, 5, -2, "5", "5.0", "0.01"]],
  ["DurationGreaterThan", "3600s", "holds", [1e6, "500m", "1h30m"]],
  ["DurationGreaterThan", 5.5, "holds", [3600, 60, 100, 1e6, "500m", "1h", "60m", "3600s", "1h30m", "10m"]],
  ["DurationLessThan", "60m", "holds", [0, 1, 5, 5.5, -2, 60, 100, "10m"]],
  ["DurationLessThanOrEquals", 60, "holds", [0, 1, 5, 5.5, -2, 60]],
  ["DurationGreaterThanOrEquals", "1h30m", "holds", [1e6, "500m", "1h30m"]],
  ["In", ["1", "5", "true"], "holds", [true, 1, 5, "5", "*", "true", [], ["5"]]],
  ["In", ["a", "b"], "holds", ["a*", "*", [], ["a", "b"], ["b", "a"]]],
  ["NotIn", ["zz"], "not", [null, "*", [], ["zz"], {}, { a: "x" }, { a: 1 }, { a: "x", b: "y" }]],
];

const holds = (operator: string, key: unknown, value: unknown, object: unknown): unknown =>
  valueFor((scope) => ({ cel: conditionsHold([{ key, operator, value }], scope) }) as never, object);

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

for (const [operator, value, which, keys] of ANSWERS)
  test(`${operator} ${JSON.stringify(value)} answers as Kyverno does`, () => {
    // In and NotIn are asked about lists of texts alone.
    const isAsked = (k: unknown) =>
      !/^(?:Not)?In$/.test(operator) || !Array.isArray(k) || k.every((each) => typeof each === "string");
    const wrong = KEYS.filter(isAsked).filter((k) => {
      const wanted = keys.some((key) => same(key, k)) === (which === "holds");
      return holds(operator, "{{ request.object.spec.k }}", value, { spec: { k } }) !== wanted;
    });
    assert.deepEqual(wrong, []);
  });

/** A key and a value of the object. */
const PAIRS: readonly (readonly [unknown, string, unknown, unknown])[] = [
  ["abc", "Equals", "a*", true],
  ["a*", "Equals", "abc", false],
  ["1Gi", "Equals", "1024Mi", true],
  ["1h", "Equals", "60m", true],
  [5, "Equals", "5", true],
  ["5", "Equals", 5, false],
  [["a", 1], "Equals", ["a", 1], true],
  [null, "NotEquals", "a", false],
  ["a", "NotEquals", "b", true],
  [5, "GreaterThan", 4.5, true],
  ["5", "GreaterThan", 4, true],
  ["2Gi", "GreaterThan", "1Gi", true],
  ["90m", "GreaterThan", "1h", true],
  ["1.10.0", "GreaterThan", "1.9.0", true],
  ["64Mi", "GreaterThan", 0, false],
  [true, "GreaterThan", 0, false],
  ["a", "AnyIn", ["b", "a*"], true],
  ["*", "AnyIn", ["b"], true],
  ["*", "AnyIn", "b", false],
  ["a", "AnyIn", '["a","b"]', true],
  [["c", "a"], "AllIn", '["a","b"]', false],
  ["a", "AnyNotIn", 5, false],
  [["a", "c"], "AnyNotIn", ["a"], true],
  [["a", "c"], "AllNotIn", ["b"], true],
];

for (const [k, operator, v, wanted] of PAIRS)
  test(`${JSON.stringify(k)} ${operator} ${JSON.stringify(v)}, both of the object, is ${wanted}`, () => {
    const value = holds(operator, "{{ request.object.spec.k }}", "{{ request.object.spec.v }}", { spec: { k, v } });
    assert.equal(value, wanted);
  });

/** A constant as the key. */
const CONSTANT_KEYS: readonly (readonly [unknown, string, unknown, unknown])[] = [
  ["a", "AnyIn", ["x", "a"], true],
  ["a", "AnyIn", ["x", "*"], true],
  ["a", "AnyNotIn", ["x"], true],
  ["a", "AnyIn", "a", true],
  ["a*", "AnyIn", ["abc"], true],
  ["2Gi", "LessThan", "3Gi", true],
  ["2Gi", "LessThan", "1Gi", false],
  ["8", "LessThan", "1h", true],
  [5, "LessThan", 6, true],
  ["a", "Equals", "*", true],
  [[true], "AnyIn", [false, true], true],
];

for (const [key, operator, v, wanted] of CONSTANT_KEYS)
  test(`the constant ${JSON.stringify(key)} ${operator} ${JSON.stringify(v)} is ${wanted}`, () => {
    assert.equal(holds(operator, key, "{{ request.object.spec.v }}", { spec: { v } }), wanted);
  });

test("In and NotIn are converted with a list of texts alone", () => {
  const told = (operator: string, value: unknown) =>
    refusal((scope) => conditionsHold([{ key: "{{ request.object.spec.k }}", operator, value }], scope));
  assert.equal(told("In", "a*"), "In differs from AnyIn here: write AnyIn or AllIn, whichever is meant");
  assert.equal(told("NotIn", [1]), "NotIn differs from AnyNotIn here: write AnyNotIn or AllNotIn, whichever is meant");
  assert.match(
    refusal((scope) => conditionsHold([{ key: "{{ request.object.spec.k[] }}", operator: "In", value: ["a"] }], scope)),
    /^In differs from AnyIn here/,
  );
});
