import assert from "node:assert/strict";
import { test } from "node:test";
import { parseConfig } from "../../src/config/load-config.js";
import { formatProblem } from "../../src/documents/problem.js";
import { createPolicyLoader } from "../../src/loader/index.js";

test("mistakes in a group's expression are told in the run that tells those of its members", async (context) => {
  const loader = createPolicyLoader({
    policyTimeout: 2000,
    workers: 1,
    now: () => performance.now(),
    log: () => {},
    violation: () => {},
    fetch: { downloadDirectory: "/nonexistent", environment: {} },
  });
  context.after(() => loader.close());
  const result = parseConfig(
    `group:
  expression: a() && (b() || cc())
  message: no
  policies:
    a: {policy: nope}
    b: {modul: ghcr.io/x/y:v1}
    c: {cel: {validations: [{expression: "true"}]}}
`,
    "p.yaml",
  );
  assert.ok(result.ok);
  const { problems, policies } = await loader.load(result.config);
  assert.deepEqual(
    [...result.problems, ...problems].map((problem) => formatProblem(problem).split("\n")[0]),
    [
      'p.yaml:5:17: group.policies.a.policy: no policy is named "nope"',
      'p.yaml:6:8: group.policies.b: does not say what it is: expected exactly one of policy, module, resource, cel, expression (did you mean "module"?)',
      "p.yaml:2:32: group.expression: unknown name 'cc' (did you mean \"c\"?)",
    ],
  );
  assert.match(policies.entries.get("group")?.unavailable ?? "", /^the policy's configuration is invalid: /);
});
