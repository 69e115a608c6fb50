import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Expr } from "../../../src/cel/ast.js";
import { children } from "../../../src/cel/walk.js";
import { parsed } from "../support/front-end.js";

const offset = (text: string): number => parsed(text).expr.offset;

describe("places of nodes", () => {
  test("are those of operators, brackets and first characters", () => {
    assert.equal(offset("  abc"), 2);
    assert.equal(offset(" .abc"), 2, "a leading dot is not part of the place");
    assert.equal(offset(" - 5"), 1, "a folded sign is");
    assert.equal(offset("a + b"), 2);
    assert.equal(offset("a ? b : c"), 2);
    assert.equal(offset("ab.cd"), 2);
    assert.equal(offset("ab.?cd"), 2);
    assert.equal(offset("ab[cd]"), 2);
    assert.equal(offset("ab(cd)"), 2);
    assert.equal(offset("ab.cd(e)"), 5);
    assert.equal(offset("[a]"), 0);
    assert.equal(offset("ab{c: d}"), 2);
    assert.equal(offset("'😀' + 1"), 4);
  });

  test("of entries and fields are their colons", () => {
    const map = parsed("{'a' : 1}").expr;
    assert.equal(map.kind === "map" && map.entries[0]!.offset, 5);
    const message = parsed("T{ab : 1}").expr;
    assert.equal(message.kind === "struct" && message.fields[0]!.offset, 5);
  });

  test("of a macro's nodes are its parenthesis, arguments keep theirs", () => {
    const all = parsed("ls.all(x, x == s)").expr;
    assert.equal(all.offset, 6);
    assert.ok(all.kind === "comprehension" && all.loopStep.kind === "call");
    assert.deepEqual(
      all.loopStep.args.map((arg: Expr) => arg.offset),
      [6, 12],
    );
  });

  test("ids are unique", () => {
    const { expr, maxId } = parsed("oi.optMap(x, [x, {x: x}].filter(y, y.all(z, has(z.a)) ? -y[0] : !y))");
    const ids = new Set<number>();
    let shared = 0;
    const collect = (node: Expr) => {
      if (ids.has(node.id)) shared += 1;
      ids.add(node.id);
      assert.ok(node.id >= 1 && node.id <= maxId);
      for (const child of children(node)) collect(child);
    };
    collect(expr);
    assert.equal(shared, 0, "no node stands in two places");
  });
});
