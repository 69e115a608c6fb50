import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { eachMistake } from "../../../src/config/documents/each-mistake.js";
import type { Problem } from "../../../src/config/documents/problem.js";

const problem: Problem = {
  severity: "error",
  file: "policies.yaml",
  line: 4,
  column: 52,
  endColumn: 53,
  path: ["p", "cel"],
  message: "",
  code: "CEL_EXPRESSION",
};
const { endColumn: _, ...withoutEnd } = problem;

describe("the mistakes of an expression", () => {
  test("are one each, at their place, without value, source and caret; what helps stands at the last", () => {
    const message = `Invalid value: "a.x(\\"1\\") && foo": compilation failed: ERROR: <input>:1:4: undeclared reference to 'x' (in container '')
 | a.x("1") && foo
 | ...^
ERROR: <input>:1:11: undeclared reference to 'foo' (in container '')
 | a.x("1") && foo
 | ..........^
ERROR: <input>:2:1: found no matching overload`;
    assert.deepEqual(eachMistake({ ...problem, message, hint: "write y" }), [
      { ...problem, message: "undeclared reference to 'x'" },
      { ...withoutEnd, column: 59, message: "undeclared reference to 'foo'" },
      { ...withoutEnd, message: "found no matching overload", hint: "write y" },
    ]);
  });

  test("have their own hints, where these are known", () => {
    const message = "compilation failed: ERROR: <input>:1:4: a\nERROR: <input>:1:7: b";
    const hints = ["write c", undefined];
    assert.deepEqual(
      eachMistake({ ...problem, message, hint: "write c", hints }).map((each) => [each.column, each.hint]),
      [
        [52, "write c"],
        [55, undefined],
      ],
    );
  });

  test("say whose types do not fit, for each kind", () => {
    const message =
      "apps/v1, Kind=Deployment: ERROR: <input>:1:4: undefined field 'x'\n\nv1, Kind=Pod: ERROR: <input>:1:4: undefined field 'x'";
    assert.deepEqual(
      eachMistake({ ...problem, code: "CEL_TYPES", message }).map((each) => each.message),
      ["apps/v1, Kind=Deployment: undefined field 'x'", "v1, Kind=Pod: undefined field 'x'"],
    );
  });

  test("of syntax are the first one, where a hint mends all that follows from it", () => {
    const message = `Invalid value: "a = ": compilation failed: ERROR: <input>:1:3: Syntax error: token recognition error at: '= '
ERROR: <input>:1:5: Syntax error: mismatched input '<EOF>' expecting {'[', '{'}`;
    assert.deepEqual(
      eachMistake({ ...problem, message }).map((each) => each.message),
      ["Syntax error: token recognition error at: '= '", "Syntax error: the expression ends too early"],
    );
    assert.equal(eachMistake({ ...problem, message, hint: "write ==" }).length, 1);
  });

  test("of a wrong result need no value either; all other problems stay as they are", () => {
    const message = 'Invalid value: "1": must evaluate to bool but got int';
    assert.deepEqual(eachMistake({ ...problem, message }), [
      { ...problem, message: "must evaluate to bool but got int" },
    ]);
    const other: Problem = { ...problem, code: "POLICY_INVALID", message };
    assert.deepEqual(eachMistake(other), [other]);
  });
});
