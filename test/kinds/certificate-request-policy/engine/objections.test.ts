import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Waiting } from "../../../../src/cel/index.js";
import {
  aggregated,
  ObjectionBudget,
  ObjectionList,
} from "../../../../src/kinds/certificate-request-policy/engine/objections.js";
import { attempt, evaluation, policy } from "./asked.js";

const listed = (fill: (list: ObjectionList) => void): string => {
  const list = new ObjectionList();
  fill(list);
  return aggregated(list.all);
};

describe("objections in one text (spec certificate-request-policy.md 0.3)", () => {
  test("none", () =>
    assert.equal(
      listed(() => {}),
      "",
    ));
  test("one stands alone", () =>
    assert.equal(
      listed((list) => list.required("a.b")),
      "a.b: Required value: true",
    ));
  test("several stand in brackets, in order", () =>
    assert.equal(
      listed((list) => {
        list.invalid("b", "x\ty", "d");
        list.invalid("a", ["<", "é"], "");
        list.internal("c", "why");
        list.invalid("d", true, "nil");
        list.plain("no path");
      }),
      '[b: Invalid value: "x\\ty": d, a: Invalid value: ["\\u003c","é"], c: Internal error: why, d: Invalid value: true: nil, no path]',
    ));
  test("what was said is not said again", () =>
    assert.equal(
      listed((list) => {
        for (const path of ["a", "b", "a", "a"]) list.required(path);
      }),
      "[a: Required value: true, b: Required value: true]",
    ));
});

describe("more objections than there is room for", () => {
  const half = "x".repeat(2 ** 19);
  /** A budget that is used up. */
  const spent = (): ObjectionBudget => {
    const budget = new ObjectionBudget();
    while (!budget.spent) budget.take(half);
    return budget;
  };

  test("end with a word that there are", () => {
    const list = new ObjectionList();
    list.plain(`1${half.slice(2)}`);
    assert.equal(list.full, false);
    list.plain(`2${half}${half}`);
    assert.equal(list.full, true);
    list.plain("3");
    assert.deepEqual(
      list.all.map(({ text }) => text.slice(0, 8)),
      ["1xxxxxxx", "and more"],
    );
  });

  test("are objections, of every policy: none approves because others said much", () => {
    const objecting = policy({ allowed: { dnsNames: { validations: [{ rule: "self == 'a'" }] } } });
    const budget = spent();
    for (const dnsNames of [["b"], ["a", "c", "d"]]) {
      assert.deepEqual(evaluation(objecting, { dnsNames }, {}, budget).objections(attempt()), [
        { path: "", text: "and more" },
      ]);
    }
    assert.deepEqual(evaluation(objecting, { dnsNames: ["a"] }, {}, budget).objections(attempt()), []);
  });

  test("end the policy: what it would say more is not looked for", () => {
    const rules = { validations: [{ rule: "self == 'a'" }] };
    const objecting = policy({ allowed: { dnsNames: rules, uris: rules } });
    const counting = attempt();
    let evaluated = 0;
    const { evaluate } = counting;
    counting.evaluate = (...asked) => {
      evaluated += 1;
      return evaluate.apply(counting, asked);
    };
    const asked = { dnsNames: ["a", "b", "c", "d"], uris: ["e"] };
    assert.ok(!(evaluation(objecting, asked, {}, spent()).objections(counting) instanceof Waiting));
    assert.equal(evaluated, 2);
  });
});
