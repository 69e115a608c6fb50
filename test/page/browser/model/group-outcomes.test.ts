import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ExplainedAnswer, ExplainedValue } from "../../../../src/kinds/explanation/types.js";
import type { GroupNode } from "../../../../src/page/api.js";
import { groupOfAnswer, outcomeOf } from "../../../../src/page/browser/model/group-outcomes.js";
import { expressionTree } from "../../../../src/page/expression-tree.js";

const SOURCE = "a() || (b() && a())";

function member(name: string, outcome: ExplainedAnswer["outcome"], milliseconds?: number): ExplainedAnswer {
  const time = milliseconds === undefined ? {} : { milliseconds };
  return { name, implementation: "extism", outcome, ...time, parts: [], members: [], left: 0 };
}

function came(from: number, to: number, value: string | undefined, parts: ExplainedValue[] = []): ExplainedValue {
  return { from, to, text: SOURCE.slice(from, to), ...(value === undefined ? {} : { value }), failed: false, parts };
}

function answer(members: ExplainedAnswer[], root?: ExplainedValue): ExplainedAnswer {
  const expressions = root === undefined ? [] : [{ path: "expression", source: SOURCE, evaluations: [root] }];
  return { ...member("g", "deny"), parts: [{ title: "", expressions }], members };
}

/** The nodes of the expression by their text; of a text that stands twice, in order. */
function nodes(node: GroupNode = expressionTree(SOURCE, ["a", "b"])): GroupNode[] {
  return [node, ...node.parts.flatMap((part) => nodes(part))];
}

describe("what became of the parts of a group", () => {
  const [, first, , b, second] = nodes();
  const root = came(0, SOURCE.length, "true", [came(0, 3, "true")]);

  test("a member has its outcome and time, one that was not needed is not evaluated", () => {
    assert.ok(first && b && second);
    const given = answer([member("a", "allow", 1.23), member("b", "not evaluated")], root);
    assert.equal(outcomeOf(first, given)?.detail, "allow · 1.2 ms");
    assert.deepEqual(outcomeOf(b, given), {
      tone: "unasked",
      symbol: "·",
      word: "not evaluated",
      detail: "not evaluated",
    });
  });

  test("a member that stands twice is coloured where it was asked", () => {
    assert.ok(first && second);
    const given = answer([member("a", "allow", 1), member("b", "not evaluated")], root);
    assert.equal(outcomeOf(first, given)?.word, "allow");
    assert.equal(outcomeOf(second, given)?.word, "not evaluated");
  });

  test("a member that was asked about several values shows the gravest outcome", () => {
    assert.ok(b);
    const given = answer([member("b", "allow"), member("b", "deny"), member("b", "deny")]);
    assert.equal(outcomeOf(b, given)?.detail, "deny, 2 of 3");
  });

  test("what is no member has the value of its part", () => {
    const [whole] = nodes();
    assert.ok(whole);
    assert.equal(outcomeOf(whole, answer([], root))?.symbol, "✓");
    assert.equal(outcomeOf(whole, answer([])), undefined);
  });

  test("a group is drawn from its answer, one that was not evaluated and what is no group are not", () => {
    const group = groupOfAnswer(answer([member("a", "allow"), member("b", "not evaluated")], root));
    assert.equal(group?.tree.kind, "or");
    assert.deepEqual(
      group?.members.map(({ name }) => name),
      ["a", "b"],
    );
    assert.equal(groupOfAnswer(answer([member("a", "allow")])), undefined);
    assert.equal(groupOfAnswer(answer([], root)), undefined);
  });
});
