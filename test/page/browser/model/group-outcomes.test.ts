import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ExplainedAnswer, ExplainedValue } from "../../../../src/kinds/explanation/types.js";
import type { GroupNode } from "../../../../src/page/api.js";
import {
  causesOf,
  groupOfAnswer,
  outcomeOf,
  warningsByMember,
} from "../../../../src/page/browser/model/group-outcomes.js";
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

describe("why a group answered as it did", () => {
  /** The answer of a group whose members came to these outcomes, evaluated as CEL does it. */
  function groupAnswer(source: string, outcomes: Record<string, ExplainedAnswer["outcome"]>): ExplainedAnswer {
    const tree = expressionTree(source, Object.keys(outcomes));
    const asked = new Set<string>();
    const value = (node: GroupNode): ExplainedValue => {
      const place = { from: node.from, to: node.to, text: source.slice(node.from, node.to) };
      const parts: ExplainedValue[] = [];
      const take = (part: GroupNode | undefined) => {
        assert.ok(part);
        const own = value(part);
        parts.push(own);
        return own.failed ? undefined : own.value === "true";
      };
      const done = (came: boolean | undefined): ExplainedValue =>
        came === undefined
          ? { ...place, value: "error: no such key", failed: true, parts }
          : { ...place, value: String(came), failed: false, parts };
      if (node.kind === "member") {
        asked.add(node.name ?? "");
        const outcome = outcomes[node.name ?? ""];
        return done(outcome === "error" ? undefined : outcome === "allow");
      }
      if (node.kind === "cel") return done(place.text.includes("fail") ? undefined : place.text === "true");
      if (node.kind === "not") {
        const came = take(node.parts[0]);
        return done(came === undefined ? undefined : !came);
      }
      if (node.kind === "if") {
        const came = take(node.parts[0]);
        return done(came === undefined ? undefined : take(node.parts[came ? 1 : 2]));
      }
      const ends = node.kind === "or";
      let failed = false;
      for (const part of node.parts) {
        const came = take(part);
        if (came === ends) return done(ends);
        failed ||= came === undefined;
      }
      return done(failed ? undefined : !ends);
    };
    const root = value(tree);
    const expressions = [{ path: "expression", source, evaluations: [root] }];
    const members = Object.entries(outcomes).map(([name, outcome]) =>
      asked.has(name)
        ? { ...member(name, outcome), ...(outcome === "allow" ? {} : { message: `because of ${name}` }) }
        : member(name, "not evaluated"),
    );
    return { ...member("g", "deny"), parts: [{ title: "", expressions }], members };
  }
  const told = (answer: ExplainedAnswer) =>
    causesOf(answer).map(({ symbol, name, message }) => `${symbol} ${name}: ${message}`);
  const because = (...names: string[]) => names.map((name) => `✕ ${name}: because of ${name}`);

  test("the members that decided are told, not those that another outcome would not have helped", () => {
    const cases: readonly (readonly [
      source: string,
      outcomes: Record<string, ExplainedAnswer["outcome"]>,
      causes: string[],
    ])[] = [
      ["a() && b()", { a: "allow", b: "deny" }, because("b")],
      ["a() && b()", { a: "deny", b: "allow" }, because("a")],
      ["a() || b()", { a: "deny", b: "deny" }, because("a", "b")],
      ["(a() || b()) && c()", { a: "deny", b: "allow", c: "deny" }, because("c")],
      ["!(a() && b())", { a: "allow", b: "allow" }, ["✓ a: allow", "✓ b: allow"]],
      ["!(a() || b())", { a: "deny", b: "allow" }, ["✓ b: allow"]],
      ["a() ? b() : c()", { a: "deny", b: "allow", c: "deny" }, because("c")],
      ["a() ? b() : c()", { a: "allow", b: "deny", c: "allow" }, because("b")],
      ["a() ? b() : false", { a: "deny", b: "allow" }, because("a")],
      ["a() ? false : b()", { a: "allow", b: "allow" }, ["✓ a: allow"]],
      ["a() ? b() : c()", { a: "error", b: "allow", c: "allow" }, ["! a: because of a"]],
      ["a() ? b() : c() ? b() : d()", { a: "deny", b: "allow", c: "deny", d: "deny" }, because("d")],
      ["a() && b()", { a: "error", b: "allow" }, ["! a: because of a"]],
      ["a() && b()", { a: "error", b: "deny" }, because("b")],
      ["a() && object.replicas < 3", { a: "allow" }, ["✕ object.replicas < 3: false"]],
      ["a() && object.fail", { a: "allow" }, ["! object.fail: error: no such key"]],
      ["a() && a()", { a: "deny" }, because("a")],
    ];
    for (const [source, outcomes, causes] of cases)
      assert.deepEqual(told(groupAnswer(source, outcomes)), causes, source);
  });

  test("of a member that was asked about several values, those that it denied are told, once each", () => {
    const source = "object.images.all(i, a(i))";
    const answer = groupAnswer(`b() && ${source}`, { b: "allow", a: "deny" });
    const members = [
      member("b", "allow"),
      member("a", "allow"),
      { ...member("a", "deny"), message: "x" },
      { ...member("a", "deny"), message: "x" },
      { ...member("a", "deny"), message: "y" },
    ];
    assert.deepEqual(told({ ...answer, members }), ["✕ a: x", "✕ a: y"]);
  });

  test("a member that is a group is told with its own cause", () => {
    const inner = { ...groupAnswer("c() && d()", { c: "allow", d: "deny" }), name: "b" };
    const outer = groupAnswer("a() && b()", { a: "allow", b: "deny" });
    assert.deepEqual(told({ ...outer, members: [member("a", "allow"), inner] }), ["✕ b › d: because of d"]);
    assert.deepEqual(told(member("p", "deny")), []);
  });

  test("warnings stand with their members, those that repeat an outcome nowhere else, and those of no member by themselves", () => {
    const members = [member("a", "allow"), member("b_1", "deny"), member("c", "not evaluated")];
    const warnings = [
      "a was accepted",
      "a: old",
      "a: b_1: x",
      "b_1 was rejected: a: b",
      "b_1: y",
      "c was not evaluated",
      "d: z",
      "note",
    ];
    const { own, left } = warningsByMember(warnings, members);
    assert.deepEqual(
      [...own],
      [
        ["a", ["old", "b_1: x"]],
        ["b_1", ["y"]],
      ],
    );
    assert.deepEqual(left, ["d: z", "note"]);
  });
});
