import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { checkedFile } from "../../../src/cli/check/index.js";
import { eachMistake, plainWords } from "../../../src/config/documents/each-mistake.js";
import type { Problem } from "../../../src/config/documents/problem.js";
import { parseConfig } from "../../../src/config/index.js";
import { createLoader } from "../../../src/loader/index.js";

const problem: Problem = {
  severity: "error",
  file: "policies.yaml",
  line: 4,
  column: 52,
  endColumn: 53,
  path: ["p", "cel"],
  message: "all of it",
  code: "CEL_EXPRESSION",
};
const { endColumn: _, ...withoutEnd } = problem;
const at = (line: number, column: number, message: string, hint?: string) => ({
  line,
  column,
  message,
  ...(hint !== undefined && { hint }),
});

describe("the mistakes of an expression", () => {
  test("are one each, at their place; what helps stands at the last", () => {
    const mistakes = [
      at(4, 52, "undeclared reference to 'x' (in container '')"),
      at(4, 59, "undeclared reference to 'foo' (in container '')"),
      at(5, 9, "found no matching overload"),
    ];
    assert.deepEqual(eachMistake({ ...problem, mistakes, hint: "write y" }), [
      { ...problem, message: "undeclared reference to 'x'" },
      { ...withoutEnd, column: 59, message: "undeclared reference to 'foo'" },
      { ...withoutEnd, line: 5, column: 9, message: "found no matching overload", hint: "write y" },
    ]);
  });

  test("have their own hints, where these are known", () => {
    const mistakes = [at(4, 52, "a", "write c"), at(4, 55, "b")];
    assert.deepEqual(
      eachMistake({ ...problem, mistakes, hint: "write c" }).map((each) => [each.column, each.hint]),
      [
        [52, "write c"],
        [55, undefined],
      ],
    );
  });

  test("of syntax are the first one, where a hint mends all that follows from it", () => {
    const mistakes = [
      at(4, 52, "Syntax error: token recognition error at: '= '"),
      at(4, 54, "Syntax error: mismatched input '<EOF>' expecting {'[', '{'}"),
    ];
    assert.deepEqual(
      eachMistake({ ...problem, mistakes }).map((each) => each.message),
      ["Syntax error: token recognition error at: '= '", "Syntax error: the expression ends too early"],
    );
    assert.equal(eachMistake({ ...problem, mistakes, hint: "write ==" }).length, 1);
  });

  test("of the whole stand where the problem does; all other problems stay as they are", () => {
    const message = "must evaluate to bool but got int";
    assert.deepEqual(eachMistake({ ...problem, mistakes: [at(4, 52, message)] }), [{ ...problem, message }]);
    assert.deepEqual(eachMistake(problem), [problem]);
    const other: Problem = { ...problem, code: "POLICY_INVALID", message: "a (in container '')" };
    assert.deepEqual(eachMistake(other), [other]);
  });

  test("are in the compiler's words, without what only looks like a list of tokens", () => {
    const input = `Syntax error: mismatched input '" expecting {x}"'`;
    assert.equal(plainWords(`${input} expecting <EOF>`), `${input} expecting <EOF>`);
    assert.equal(plainWords(`${input} expecting {'[', '{'}`), input);
  });
});

/** What `check` says of an inline policy with this validation: line, column, end and words of each problem. */
async function checked(expression: string, more = ""): Promise<unknown[]> {
  const lines = expression.split("\n").map((line) => `        ${line}\n`);
  const read = parseConfig(
    `p:\n  cel:\n${more}    validations:\n    - expression: |-\n${lines.join("")}`,
    "policies.yaml",
  );
  assert.ok(read.ok, read.ok ? "" : read.message);
  const loader = createLoader({ workers: 1 }, { typeCheck: true });
  try {
    const loaded = await loader.load(read.config);
    const { problems } = checkedFile({ ...loaded, file: "policies.yaml", files: [], errors: 0 });
    const first = more === "" ? 5 : 6;
    return problems.map(({ line, column, endColumn, message }) => [line - first + 1, column - 8, endColumn, message]);
  } finally {
    await loader.close();
  }
}

describe("an expression with texts that look like the compiler's", () => {
  const undeclared = (name: string) => `undeclared reference to '${name}'`;
  const cases: readonly (readonly [
    expression: string,
    ...problems: (readonly [number, number, number | undefined, string])[],
  ])[] = [
    [`"ERROR: <input>:1:2: x" == foo`, [1, 28, 39, undeclared("foo")]],
    [`foo == "Invalid value: \\"a\\": compilation failed: ERROR: <input>:7:9: x"`, [1, 1, 12, undeclared("foo")]],
    [`object.x == """a\n | ERROR: <input>:1:2: x\n | ..^""" && foo`, [3, 14, 25, undeclared("foo")]],
    [
      `foo('''ERROR: <input>:7:7: x\n | ..^''') || bar`,
      [1, 4, 13, undeclared("foo")],
      [2, 15, undefined, undeclared("bar")],
    ],
    [
      `"a" "ERROR: <input>:1:2: b"`,
      [1, 5, 14, `Syntax error: extraneous input '"ERROR: <input>:1:2: b"' expecting <EOF>`],
    ],
    [`"x" " expecting {y}"`, [1, 5, 14, `Syntax error: extraneous input '" expecting {y}"' expecting <EOF>`]],
  ];
  for (const [expression, ...problems] of cases) {
    test(`is wrong where it is wrong: ${JSON.stringify(expression)}`, async () => {
      assert.deepEqual(await checked(expression), problems);
    });
  }

  test("has its kinds named where types do not fit", async () => {
    const constraints = `    matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods, services]}]}\n`;
    const expression = `"ERROR: <input>:1:2: /v1, Kind=Pod: ERROR: <input>:1:3:" == object.spec.nope`;
    assert.deepEqual(await checked(expression, constraints), [
      [1, 72, 81, "/v1, Kind=Pod: undefined field 'nope'"],
      [1, 72, undefined, "/v1, Kind=Service: undefined field 'nope'"],
    ]);
  });
});
