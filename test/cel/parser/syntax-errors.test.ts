import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { checked, EXPR, issuesOf } from "../support/front-end.js";
import { vectorDeclarations } from "../support/vectors.js";

const rows: readonly (readonly [string, ...string[]])[] = [
  ["1 +", `1:4 Syntax error: mismatched input '<EOF>' expecting ${EXPR}`],
  [
    "b = 1",
    "1:3 Syntax error: token recognition error at: '= '",
    "1:5 Syntax error: extraneous input '1' expecting <EOF>",
  ],
  [
    "'abc",
    "1:1 Syntax error: token recognition error at: ''abc'",
    `1:5 Syntax error: mismatched input '<EOF>' expecting ${EXPR}`,
  ],
  ["(1", "1:3 Syntax error: missing ')' at '<EOF>'"],
  ["[1][0", "1:6 Syntax error: missing ']' at '<EOF>'"],
  ["{1 2}", "1:4 Syntax error: missing ':' at '2'"],
  ["true ? 1", "1:9 Syntax error: mismatched input '<EOF>' expecting ':'"],
  ["[1", "1:3 Syntax error: mismatched input '<EOF>' expecting {']', ','}"],
  ["{1: 2", "1:6 Syntax error: mismatched input '<EOF>' expecting {'}', ','}"],
  ["!-x", "1:3 Syntax error: no viable alternative at input '-x'"],
  ["-!x", "1:2 Syntax error: no viable alternative at input '-!'"],
  ["object.true", "1:8 Syntax error: mismatched input 'true' expecting IDENTIFIER"],
  [
    "x.?",
    "1:4 Syntax error: mismatched input '<EOF>' expecting {IDENTIFIER, ESC_IDENTIFIER}",
    "1:4 unsupported ident kind",
  ],
  ["1, 2", "1:2 Syntax error: mismatched input ',' expecting <EOF>"],
  [
    "h({T{a))",
    "1:7 Syntax error: mismatched input ')' expecting ':'",
    "1:8 Syntax error: extraneous input ')' expecting <EOF>",
  ],
  ["f(g.h(1]]", "1:8 Syntax error: mismatched input ']' expecting ')'"],
  [
    "--1 - -)",
    "1:8 Syntax error: no viable alternative at input '-)'",
    `1:8 Syntax error: mismatched input ')' expecting ${EXPR}`,
  ],
  ["a.b.{1: 2}", "1:5 Syntax error: no viable alternative at input '.{'"],
  ["T.a.true{}", "1:5 Syntax error: mismatched input 'true' expecting IDENTIFIER"],
  ["f(1,,2)", `1:5 Syntax error: extraneous input ',' expecting ${EXPR}`],
  ["[1,,2]", "1:4 Syntax error: mismatched input ',' expecting ']'"],
  ["{1: 2,, 3: 4}", "1:7 Syntax error: mismatched input ',' expecting '}'"],
  ["T{a: 1,, b: 2}", "1:8 Syntax error: mismatched input ',' expecting '}'"],
  [
    "T{?1: 2}",
    "1:3 unsupported ident kind",
    "1:4 Syntax error: mismatched input '1' expecting {IDENTIFIER, ESC_IDENTIFIER}",
  ],
  ["a.b #(1", "1:5 Syntax error: token recognition error at: '#'", "1:8 Syntax error: missing ')' at '<EOF>'"],
  [
    "a && && b || ) c",
    `1:6 Syntax error: extraneous input '&&' expecting ${EXPR}`,
    `1:14 Syntax error: extraneous input ')' expecting ${EXPR}`,
  ],
];

describe("syntax errors", () => {
  for (const [expr, ...issues] of rows) {
    test(`of ${expr}`, () => {
      assert.deepEqual(issuesOf(expr), issues);
    });
  }

  test("are shown with their line and a pointer, which is wide below wide characters", () => {
    const result = checked("'é' +\n\t'😀' 1");
    assert.ok("issues" in result);
    assert.equal(
      result.text,
      "ERROR: <input>:2:6: Syntax error: extraneous input '1' expecting <EOF>\n |  '😀' 1\n | ..．..^",
    );
  });

  test("of an empty expression have no line to show", () => {
    const result = checked("");
    assert.ok("issues" in result);
    assert.equal(result.text, `ERROR: <input>:1:0: Syntax error: mismatched input '<EOF>' expecting ${EXPR}`);
  });
});

describe("optional syntax", () => {
  const older = vectorDeclarations("kubernetes", "1.27");

  test("is unsupported before Kubernetes 1.28", () => {
    assert.deepEqual(issuesOf("object.?a", older), ["1:7 unsupported syntax '.?'"]);
    assert.deepEqual(issuesOf("object[?a]", older).includes("1:7 unsupported syntax '[?'"), true);
    assert.deepEqual(issuesOf("[?object]", older), ["1:2 unsupported syntax '?'"]);
    assert.deepEqual(issuesOf("{?'a': object}", older), ["1:2 unsupported syntax '?'"]);
  });
});
