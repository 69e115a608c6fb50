import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { formatRows } from "../../../src/offline/kyverno-test/formats.js";
import type { Row } from "../../../src/offline/kyverno-test/rows.js";
import { rowTable } from "../../../src/offline/kyverno-test/run.js";

const row = (id: number, more: Partial<Row> = {}): Row => ({
  id,
  policy: "need-owner",
  rule: "",
  resource: "v1/Pod/default/bad",
  result: "Pass",
  reason: "Ok",
  message: "set an owner",
  expected: 0,
  counts: "pass",
  ...more,
});
const ROWS = [
  row(1),
  row(2, { result: "Fail", reason: "Want pass, got fail", counts: "fail" }),
  row(3, { policy: "nope", rule: "abc", result: "Fail", reason: "Not found", message: "a: <b> & 'c'", counts: "fail" }),
];

describe("a table", () => {
  test("has a column as wide as its widest cell", () => {
    assert.equal(
      rowTable(ROWS, { detailed: false, color: false }),
      `│────│────────────│──────│────────────────────│────────│─────────────────────│
│ ID │ POLICY     │ RULE │ RESOURCE           │ RESULT │ REASON              │
│────│────────────│──────│────────────────────│────────│─────────────────────│
│ 1  │ need-owner │      │ v1/Pod/default/bad │ Pass   │ Ok                  │
│ 2  │ need-owner │      │ v1/Pod/default/bad │ Fail   │ Want pass, got fail │
│ 3  │ nope       │ abc  │ v1/Pod/default/bad │ Fail   │ Not found           │
│────│────────────│──────│────────────────────│────────│─────────────────────│
`,
    );
  });

  test("says how many rows it has when they are many", () => {
    const many = rowTable(
      Array.from({ length: 11 }, (_, i) => row(i + 1)),
      { detailed: true, color: false },
    ).split("\n");
    assert.match(many[0] ?? "", /^│──────────│────────────│/);
    assert.match(many[1] ?? "", /^│ ID \(11\) {2}│ POLICY {5}│.*│ MESSAGE {6}│$/);
    assert.equal(many.length, 11 + 4 + 1);
  });

  test("breaks long messages between words, and keeps the lines of others", () => {
    const words = `${"word ".repeat(70)}end`;
    const text = rowTable([row(1, { message: words }), row(2, { message: "one\ntwo" })], {
      detailed: true,
      color: false,
    });
    const lines = text.split("\n");
    assert.equal(lines.length, 3 + 2 + 2 + 1 + 1);
    assert.ok(lines.every((line) => line === "" || line.length === lines[0]?.length));
    assert.match(lines[4] ?? "", /^│ {4}│ {12}│ {6}│ {20}│ {8}│ {8}│ word/);
    assert.match(lines[6] ?? "", /│ two +│$/);
  });

  test("is nothing without rows, and coloured for terminals", () => {
    assert.equal(rowTable([], { detailed: true, color: true }), "");
    assert.ok(rowTable(ROWS, { detailed: false, color: true }).includes("\u001b[31;1mFail\u001b[0m   │"));
  });
});

describe("rows for programs", () => {
  test("are JSON, with what is special in HTML escaped", () => {
    assert.equal(
      formatRows(ROWS.slice(2), "json", true),
      `[
  {
    "ID": 3,
    "Message": "a: \\u003cb\\u003e \\u0026 'c'",
    "POLICY": "nope",
    "REASON": "Not found",
    "RESOURCE": "v1/Pod/default/bad",
    "RESULT": "Fail",
    "RULE": "abc"
  }
]`,
    );
    assert.equal(formatRows([], "json", false), "[]");
  });

  test("are YAML", () => {
    assert.equal(
      formatRows(ROWS.slice(1), "yaml", true),
      `- ID: 2
  Message: set an owner
  POLICY: need-owner
  REASON: Want pass, got fail
  RESOURCE: v1/Pod/default/bad
  RESULT: Fail
  RULE: ""
- ID: 3
  Message: 'a: <b> & ''c'''
  POLICY: nope
  REASON: Not found
  RESOURCE: v1/Pod/default/bad
  RESULT: Fail
  RULE: abc
`,
    );
  });

  test("are a table in Markdown", () => {
    assert.equal(
      formatRows(ROWS.slice(0, 1), "markdown", true),
      `| ID | POLICY | RULE | RESOURCE | RESULT | REASON | MESSAGE | 
|----|----|----|----|----|----|----|
| 1 | need-owner |  | v1/Pod/default/bad | Pass | Ok | set an owner |
`,
    );
  });

  test("have a line of Markdown each, and no bars, tags or links but their own", () => {
    const message = "a | b\n| 9 | forged |\r<img src=x> [here](https://evil.example) ![x][y] containers[0] & *c*";
    const text = formatRows([row(1, { message, resource: "\u001b[31mx" })], "markdown", true);
    const [, , line = "", ...more] = text.split("\n");
    assert.deepEqual(more, [""]);
    assert.equal(
      line,
      "| 1 | need-owner |  | \\u001b[31mx | Pass | Ok | a &#124; b &#124; 9 &#124; forged &#124; &#60;img src=x> &#91;here](https://evil.example) !&#91;x][y] containers[0] &#38; *c* |",
    );
  });

  test("are JUnit's XML, whatever messages hold", () => {
    assert.equal(
      formatRows([...ROWS.slice(1), row(4, { message: "]]>\u0001" })], "junit", true),
      `<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="3" failures="2">
 <testsuite name="need-owner" tests="2" failures="1">
  <testcase classname="" name="v1/Pod/default/bad">
   <failure message="Want pass, got fail">
    Policy: need-owner
    Rule: 
    Resource: v1/Pod/default/bad
    Result: Fail
    Message: set an owner
   </failure>
  </testcase>
  <testcase classname="" name="v1/Pod/default/bad">
   <system-out><![CDATA[
    Reason: Ok
    Policy: need-owner
    Rule: 
    Resource: v1/Pod/default/bad
    Message: ]]]]><![CDATA[>?
   ]]></system-out>
  </testcase>
 </testsuite>
 <testsuite name="nope" tests="1" failures="1">
  <testcase classname="abc" name="v1/Pod/default/bad">
   <failure message="Not found">
    Policy: nope
    Rule: abc
    Resource: v1/Pod/default/bad
    Result: Fail
    Message: a: &lt;b&gt; &amp; 'c'
   </failure>
  </testcase>
 </testsuite>
</testsuites>`,
    );
  });
});

const BEFORE_RULE = `- ID: 1
  POLICY: need-owner
  REASON: Ok
  RESOURCE: v1/Pod/default/bad
  RESULT: Pass
  RULE: `;

test("texts in YAML are quoted as Go's encoder quotes them", () => {
  for (const [text, written] of [
    ["", '""'],
    ["plain, text", "plain, text"],
    ["a: b", "'a: b'"],
    ["it's: 'x'", "'it''s: ''x'''"],
    ["trail ", "'trail '"],
    ["? q", "'? q'"],
    ["?q", "?q"],
    ["x:", "'x:'"],
    ["a #b", "'a #b'"],
    ["...", "'...'"],
    ["=", '"="'],
    ["true", '"true"'],
    ["123", '"123"'],
    ["0o7", '"0o7"'],
    ["1:20", '"1:20"'],
    ["2020-01-01", '"2020-01-01"'],
    ["a\u0001b", '"a\\x01b"'],
    ["tab\tin", '"tab\\tin"'],
    ["a\r\nb", '"a\\r\\nb"'],
    ["one\ntwo", "|-\n    one\n    two"],
    ["one\ntwo\n", "|\n    one\n    two"],
    ["one\n\n  in", "|-\n    one\n\n      in"],
  ] as const) {
    const own = formatRows([row(1, { rule: text })], "yaml", false);
    assert.equal(own, `${BEFORE_RULE}${written}${written.endsWith("\n") ? "" : "\n"}`);
  }
});
