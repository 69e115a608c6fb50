import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { PageProblem } from "../../../../src/page/api.js";
import { plainProblems } from "../../../../src/page/browser/model/plain-problems.js";

const problem: PageProblem = { severity: "error", line: 4, column: 52, endColumn: 53, path: "p.cel", message: "" };

describe("mistakes that CEL's compiler found", () => {
  test("are one each, at their place, without source and caret", () => {
    const message = `Invalid value: "a.x(1) && foo": compilation failed: ERROR: <input>:1:4: undeclared reference to 'x' (in container '')
 | a.x(1) && foo
 | ...^
ERROR: <input>:1:11: undeclared reference to 'foo' (in container '')
 | a.x(1) && foo
 | ..........^
ERROR: <input>:2:1: Syntax error: missing ')'`;
    const { endColumn, ...rest } = problem;
    assert.deepEqual(plainProblems({ ...problem, message }), [
      { ...problem, message: "undeclared reference to 'x'" },
      { ...rest, column: 59, message: "undeclared reference to 'foo'" },
      { ...rest, message: "Syntax error: missing ')'" },
    ]);
    assert.equal(endColumn, 53);
  });

  test("all other messages stay as they are", () => {
    const other = { ...problem, message: "unknown key\nERROR: none" };
    assert.deepEqual(plainProblems(other), [other]);
  });
});
