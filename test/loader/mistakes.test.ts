import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { formatProblem } from "../../src/config/documents/problem.js";
import { parseConfig } from "../../src/config/load-config.js";
import { createLoader } from "../../src/loader/index.js";

/** What is told of a configuration, whole. */
async function told(context: TestContext, text: string) {
  const loader = createLoader({ downloadDirectory: "/nonexistent" });
  context.after(() => loader.close());
  const result = parseConfig(text, "p.yaml");
  assert.ok(result.ok);
  const { problems, policies } = await loader.load(result.config);
  return { problems: [...result.problems, ...problems].map(formatProblem), policies };
}

test("mistakes in a group's expression are told in the run that tells those of its members", async (context) => {
  const { problems, policies } = await told(
    context,
    `group:
  expression: a() && (b() || cc())
  message: 'no'
  policies:
    a: {policy: nope}
    b: {modul: ghcr.io/x/y:v1}
    c: {cel: {validations: [{expression: "true"}]}}
`,
  );
  assert.deepEqual(
    problems.map((problem) => problem.split("\n")[0]),
    [
      'p.yaml:5:17: group.policies.a.policy: no policy is named "nope"',
      'p.yaml:6:8: group.policies.b: does not say what it is: expected exactly one of policy, module, resource, cel, expression (did you mean "module"?)',
      "p.yaml:2:32: group.expression: unknown name 'cc' (did you mean \"c\"?)",
    ],
  );
  assert.match(policies.entries.get("group")?.unavailable ?? "", /^the policy's configuration is invalid: /);
});

const groupOf = (expression: string): string => `group:
  expression: ${expression}
  message: 'no'
  policies:
    a: {cel: {validations: [{expression: "true"}]}}
    b: {cel: {validations: [{expression: "true"}]}}
`;

test("a mistake in an expression of several lines is shown in its line, below which the caret stands", async (context) => {
  const { problems } = await told(context, groupOf('|\n    b() &&\n    \ta() && "\u{1f512}" == "" && c()'));
  assert.deepEqual(problems, [
    `p.yaml:4:27: group.expression: unknown name 'c' (did you mean "a"?)
 | \ta() && "\u{1f512}" == "" && c()
 | \t${" ".repeat(21)}^`,
  ]);
});

test("what is doubtful in a group's expression is a warning, and the group is served", async (context) => {
  const { problems, policies } = await told(context, groupOf("a()"));
  assert.deepEqual(problems, ["p.yaml:2:15: warning: group.expression: member 'b' is never used in the expression"]);
  assert.equal(policies.entries.get("group")?.unavailable, undefined);
});
