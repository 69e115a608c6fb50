import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { children, createEnvironment, type Expr } from "../../src/cel/index.js";
import type { GroupNode } from "../../src/page/api.js";
import { expressionTree } from "../../src/page/expression-tree.js";

const MEMBERS = ["a", "b", "c"];

/** `or(a, and(b, not(c)))`, with the text of leaves. */
function drawn(expression: string, node: GroupNode = expressionTree(expression, MEMBERS)): string {
  const text = expression.slice(node.from, node.to);
  if (node.parts.length === 0) return node.kind === "member" ? (node.name ?? "?") : `<${text}>`;
  return `${node.kind}(${node.parts.map((part) => drawn(expression, part)).join(", ")})`;
}

describe("a group's expression as a tree", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["a()", "a"],
    ["a() || b() && !c()", "or(a, and(b, not(c)))"],
    ["(a() || b()) && c()", "and(or(a, b), c)"],
    ["a() || b() || c()", "or(a, b, c)"],
    ["!(a() && b())", "not(and(a, b))"],
    ["!!a()", "not(not(a))"],
    ["a() ? b() : c() ? a() : b()", "if(a, b, if(c, a, b))"],
    ["object.spec.containers.all(c, a(c) && b(c)) && a()", "and(<object.spec.containers.all(c, a(c) && b(c))>, a)"],
    ["a(object.spec) && object.?x.orValue(true)", "and(a, <object.?x.orValue(true)>)"],
    ["!a() == b()", "<!a() == b()>"],
    ["object.x in ['a || b', \"c && d\"] || a()", "or(<object.x in ['a || b', \"c && d\"]>, a)"],
    [String.raw`'\' || ' == x && a()`, String.raw`and(<'\' || ' == x>, a)`],
    [String.raw`r'\' == x || a()`, String.raw`or(<r'\' == x>, a)`],
    ["'''it's || ''' == x || a()", "or(<'''it's || ''' == x>, a)"],
    ["a() // || b()\n && b()", "and(a, b)"],
    ["  ( a() )  ", "a"],
    ["{'a': a() ? 1 : 2}.a == 1 && b()", "and(<{'a': a() ? 1 : 2}.a == 1>, b)"],
    ["unknown() && a", "and(<unknown()>, <a>)"],
  ];
  for (const [expression, tree] of cases) test(expression, () => assert.equal(drawn(expression), tree));

  test("what is no expression, is too long or nests too deep is one leaf", () => {
    for (const text of ["", "a() || (b()", ")(", `a() || ${"b()".padEnd(11_000)}`]) {
      assert.deepEqual(expressionTree(text, MEMBERS), { kind: "cel", from: 0, to: text.length, parts: [] });
    }
    const deep = `${"!(".repeat(5_00)}a()${")".repeat(5_00)}`;
    assert.match(drawn(deep), /^(?:not\()+<.*>\)+$/);
  });

  test("it has the operators that the engine's tree has, as often", () => {
    const environment = createEnvironment({ flavour: "standard" });
    const counted = (node: GroupNode): number => {
      const own = { and: node.parts.length - 1, or: node.parts.length - 1, not: 1, if: 1, member: 0, cel: 0 }[
        node.kind
      ];
      return node.parts.reduce((sum, part) => sum + counted(part), own);
    };
    const inEngine = (expr: Expr): number => {
      const own = expr.kind === "call" && ["_&&_", "_||_", "!_", "_?_:_"].includes(expr.function) ? 1 : 0;
      return [...children(expr)].reduce((sum, child) => sum + inEngine(child), own);
    };
    for (const expression of [
      "true && (false || !true)",
      "true ? false : !true || false && true",
      "!(true ? true : false)",
    ]) {
      const checked = environment.check(expression);
      assert.ok(checked.ok, expression);
      assert.equal(counted(expressionTree(expression, [])), inEngine(checked.parsed.expr), expression);
    }
  });
});
