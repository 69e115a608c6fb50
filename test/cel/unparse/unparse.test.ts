import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Expr } from "../../../src/cel/ast.js";
import { parserOptions } from "../../../src/cel/macros/macro-sets.js";
import { parse } from "../../../src/cel/parser/index.js";
import { unparse } from "../../../src/cel/unparse/unparse.js";
import { readVectors } from "../support/vectors.js";

const options = parserOptions("kubernetes", "1.37");

/** The tree without ids and places: what must survive printing and parsing. */
function shape(expr: Expr): string {
  return JSON.stringify(expr, (key, value: unknown) => {
    if (key === "id" || key === "offset") return undefined;
    return typeof value === "bigint" ? `${value}n` : value;
  });
}

function printed(text: string): string {
  const result = parse(text, options);
  assert.ok(result.ok, text);
  return unparse(result.parsed.expr, result.parsed.macroCalls);
}

describe("printing an expression", () => {
  test("uses no more parentheses than needed", () => {
    assert.equal(printed("((a) + (b * (c - d)))"), "a + b * (c - d)");
    assert.equal(printed("(a - b) - c - (d - e)"), "a - b - c - (d - e)");
    assert.equal(printed("a && b && c && d || e"), "a && b && c && d || e");
    assert.equal(printed("(a || b) && c"), "(a || b) && c");
    assert.equal(printed("(a ? b : c) ? d : (e ? f : g)"), "(a ? b : c) ? d : e ? f : g");
    assert.equal(printed("!(a == b)"), "!(a == b)");
    assert.equal(printed("-(-1)"), "-(-1)");
    assert.equal(printed("(1 + 2).foo"), "(1 + 2).foo");
  });

  test("prints macros as they were written", () => {
    assert.equal(printed("has(a.b)"), "has(a.b)");
    assert.equal(printed("l.all(x,x.map(y, y>1, y).size()>0)"), "l.all(x, x.map(y, y > 1, y).size() > 0)");
    assert.equal(printed("o.optMap(v, v+1)"), "o.optMap(v, v + 1)");
  });

  test("prints literals and names so that they read back", () => {
    assert.equal(printed("'a\\n\"' + r'\\d'"), '"a\\n\\"" + "\\\\d"');
    assert.equal(printed("b'\\xff\\101'"), 'b"\\xffA"');
    assert.equal(printed("[1, 2u, 3.0, 1e300, -0.0]"), "[1, 2u, 3.0, 1e+300, -0.0]");
    assert.equal(printed("a.?b[?c].`d-e`"), "a.?b[?c].`d-e`");
    assert.equal(printed("{?'k': v, 1: T{?f: .g}}"), '{?"k": v, 1: T{?f: .g}}');
  });

  test("what is printed parses to the same tree, for every vector", () => {
    for (const file of ["curated.jsonl", "generated.jsonl"]) {
      for (const { expr } of readVectors(file)) {
        const first = parse(expr, options);
        if (!first.ok) continue;
        const text = unparse(first.parsed.expr, first.parsed.macroCalls);
        const second = parse(text, options);
        assert.ok(second.ok, `${expr} -> ${text}`);
        assert.equal(shape(second.parsed.expr), shape(first.parsed.expr), `${expr} -> ${text}`);
      }
    }
  });
});
