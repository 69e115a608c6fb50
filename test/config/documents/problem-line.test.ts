import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Problem } from "../../../src/config/documents/problem.js";
import { problemLine } from "../../../src/config/documents/problem-line.js";

const problem: Problem = {
  file: "policies.yaml",
  line: 3,
  column: 7,
  severity: "error",
  path: ["a", "cel"],
  message: "undeclared reference to 'x'",
};

describe("a problem as one line of a log", () => {
  test("has place, words, code and hint", () => {
    assert.equal(
      problemLine({ ...problem, code: "CEL_EXPRESSION", hint: "write y" }),
      "policies.yaml:3:7: a.cel: undeclared reference to 'x' [CEL_EXPRESSION] (help: write y)",
    );
    assert.equal(problemLine(problem), "policies.yaml:3:7: a.cel: undeclared reference to 'x'");
  });

  test("quotes no line of an expression, and puts several mistakes behind each other", () => {
    const message =
      "compilation failed: ERROR: <input>:1:1: a\n | x + y\n | ^\nERROR: <input>:1:5: b\n | x + y\n | ....^\n";
    assert.equal(
      problemLine({ ...problem, message, severity: "warning" }),
      "policies.yaml:3:7: warning: a.cel: compilation failed: ERROR: <input>:1:1: a; ERROR: <input>:1:5: b",
    );
  });

  test("leaves out what a hint would have pasted", () => {
    const hint = "name this file in a policies.yaml:\nname:\n  resource: vap.yaml";
    assert.match(problemLine({ ...problem, hint }), / \(help: name this file in a policies\.yaml\)$/);
  });
});
