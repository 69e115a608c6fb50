import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type LabelSelectorExpression, prepareSelector } from "../../../src/kinds/shared/match/label-selector.js";

const LABELS: readonly Readonly<Record<string, string>>[] = [{ a: "1" }, { a: "2" }, { b: "1" }, {}];

/** Which of the labels a selector takes. */
const taken = (matchExpressions: readonly LabelSelectorExpression[], matchLabels = {}): readonly boolean[] => {
  const selector = prepareSelector({ matchExpressions, matchLabels });
  assert.equal(selector.error, undefined);
  return LABELS.map((labels) => selector.matches(labels));
};

describe("label selectors (spec validating-admission-policy.md 3.6)", () => {
  test("take what every requirement takes", () => {
    assert.deepEqual(taken([{ key: "a", operator: "In", values: ["1", "3"] }]), [true, false, false, false]);
    assert.deepEqual(taken([{ key: "a", operator: "NotIn", values: ["1", "3"] }]), [false, true, true, true]);
    assert.deepEqual(taken([{ key: "a", operator: "Exists" }]), [true, true, false, false]);
    assert.deepEqual(taken([{ key: "a", operator: "DoesNotExist" }]), [false, false, true, true]);
    assert.deepEqual(taken([], { a: "2" }), [false, true, false, false]);
    assert.deepEqual(taken([{ key: "a", operator: "Exists" }], { a: "2" }), [false, true, false, false]);
    assert.deepEqual(taken([{ key: "b", operator: "Exists" }], { a: "2" }), [false, false, false, false]);
  });

  test("of no requirement are empty and take everything, others are not", () => {
    assert.deepEqual(taken([]), [true, true, true, true]);
    assert.equal(prepareSelector({}).empty, true);
    assert.equal(prepareSelector({ matchLabels: { a: "1" } }).empty, false);
  });

  test("take an empty value for one, and no label of a prototype", () => {
    const empty = prepareSelector({ matchExpressions: [{ key: "a", operator: "In", values: [""] }] });
    assert.deepEqual([empty.matches({ a: "" }), empty.matches({})], [true, false]);
    const inherited = prepareSelector({ matchExpressions: [{ key: "constructor", operator: "Exists" }] });
    assert.equal(inherited.matches({}), false);
  });

  test("that are broken take nothing and say why", () => {
    for (const [expression, error] of [
      [{ key: "a", operator: "Is" }, '"Is" is not a valid label selector operator'],
      [
        { key: "a", operator: "In" },
        "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
      ],
      [
        { key: "a", operator: "NotIn", values: [] },
        "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
      ],
      [
        { key: "a", operator: "Exists", values: ["1"] },
        'values: Invalid value: ["1"]: values set must be empty for exists and does not exist',
      ],
      [
        { key: "a", operator: "DoesNotExist", values: ["1"] },
        'values: Invalid value: ["1"]: values set must be empty for exists and does not exist',
      ],
    ] as const) {
      const selector = prepareSelector({ matchExpressions: [{ key: "b", operator: "Exists" }, expression] });
      assert.deepEqual([selector.error, selector.empty, selector.matches({ b: "", a: "1" })], [error, false, false]);
    }
    for (const [key, value, told] of [
      ["-a", "1", /^key: Invalid value: "-a": /],
      ["a", "-", /^values\[0\]\[a\]: Invalid value: "-": /],
      ["-a", "-", /^\[key: .+, values\[0\]\[-a\]: .+\]$/],
    ] as const)
      assert.match(prepareSelector({ matchLabels: { [key]: value } }).error ?? "", told);
  });
});
