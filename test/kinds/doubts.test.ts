import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { formatProblem, type Problem } from "../../src/config/documents/problem.js";
import { parseResources } from "../../src/config/documents/source-document.js";
import type { DocumentKind } from "../../src/kinds/kind.js";
import { LoadError } from "../../src/kinds/load-error.js";
import { createKinds } from "../../src/kinds/registry.js";
import type { WasmRuntime } from "../../src/wasm/index.js";

const kinds = createKinds({
  runtime: undefined as unknown as WasmRuntime,
  policyTimeout: 60_000,
  now: () => 0,
  typeCheck: true,
});

async function problemsOf(text: string): Promise<readonly Problem[]> {
  const { documents: own } = parseResources(text, "p.yaml");
  const { documents } = await kinds.for([{ kind: "resource", documents: own } as never]);
  const kind = documents.find(({ policies }) =>
    policies.some((each) => text.includes(`kind: ${each.kind}\n`)),
  ) as DocumentKind;
  const problems: Problem[] = [];
  try {
    kind.prepare({ id: "p", own, others: [] }, (problem) => problems.push(problem));
  } catch (error) {
    assert.ok(error instanceof LoadError, String(error));
    problems.push(...error.problems);
  }
  return problems;
}

const POLICY = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: p }
spec:
  matchConstraints:
    resourceRules:
      - { operations: [CREATE], apiGroups: [apps], apiVersions: [v1], resources: [deployments] }
`;

describe("what is said of a policy", () => {
  test("has a hint beside the reference's message, the place of the word, and a code", async () => {
    const [problem] = await problemsOf(
      `${POLICY}  validations:\n    - expression: object.metadata.name.startWith('a')\n`,
    );
    assert.match(
      problem?.message ?? "",
      /^Invalid value: ".*": compilation failed: ERROR: <input>:1:31: undeclared reference to 'startWith' /s,
    );
    const { hint, code, line, column, endColumn } = problem ?? {};
    assert.deepEqual([hint, code, line, column, endColumn], ["write startsWith", "CEL_EXPRESSION", 9, 49, 50]);
  });

  for (const [expression, hint] of [
    ["params.x == 1", /^params are there when spec\.paramKind/],
    ["variables.x == 1", /^variables are those of spec\.variables/],
    ["object.?spec.?hostNetwork", /orValue\(false\) == true$/],
    ["object.metadata.name.size()", /compare it/],
    ["input.request.object.spec.x == 1", /^write object$/],
    ["request.user.username == 'x'", /^write request\.userInfo$/],
  ] as const) {
    test(`has a hint for ${expression}`, async () => {
      const [problem] = await problemsOf(`${POLICY}  validations:\n    - expression: "${expression}"\n`);
      assert.match(problem?.hint ?? "", hint, problem && formatProblem(problem));
    });
  }

  test("by type checking names the field that was meant, and says that Kubernetes reports it, too", async () => {
    const text = `${POLICY}  validations:\n    - expression: object.spec.replica > 1\n    - expression: nothing\n`;
    const problems = await problemsOf(text);
    const [warning] = problems.filter(({ severity }) => severity === "warning");
    assert.equal(warning?.code, "CEL_TYPES");
    assert.equal(warning?.hint, "write replicas");
    assert.match(warning?.message ?? "", /Kubernetes reports this too, in the policy's status\.typeChecking$/);
    assert.equal(problems.filter(({ severity }) => severity === "error").length, 1);
  });

  test("warns of conditions that never change, but for those that say so themselves", async () => {
    const conditions = `  matchConditions: [{ name: a, expression: "'a' == 'b'" }, { name: b, expression: "true" }]\n`;
    const text = `${POLICY}${conditions}  validations: [{ expression: "1 < 2" }, { expression: "true" }, { expression: "false" }]\n`;
    assert.deepEqual((await problemsOf(text)).map(formatProblem), [
      "p.yaml:8:44: warning: spec.matchConditions[0].expression: this is false whatever the request: the policy applies to nothing",
      "p.yaml:9:31: warning: spec.validations[0].expression: this is true whatever the request: it never denies",
    ]);
  });

  test("warns of rules that match nothing, in policies of Kyverno and in bindings, too", async () => {
    const kyverno = POLICY.replace("admissionregistration.k8s.io/v1", "policies.kyverno.io/v1")
      .replace("ValidatingAdmissionPolicy", "ValidatingPolicy")
      .replace("deployments", "deployment");
    const [first] = await problemsOf(`${kyverno}  validations: [{ expression: "true" }]\n`);
    assert.equal(first?.hint, 'write "deployments": resources are named in the plural, in lower case');
    const binding =
      "---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: { name: b }\nspec: { policyName: p, validationActions: [Deny], matchResources: { objectSelector: { matchLabels: { a: x }, matchExpressions: [{ key: a, operator: NotIn, values: [x] }] } } }\n";
    const [second] = await problemsOf(`${POLICY}  validations: [{ expression: "true" }]\n${binding}`);
    assert.match(second?.message ?? "", /^no labels meet this selector/);
  });
});
