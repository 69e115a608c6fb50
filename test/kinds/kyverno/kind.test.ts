/** Documents are taken as a cluster would take them, and every mistake stands at its place in the file. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { formatProblem } from "../../../src/documents/problem.js";
import { parseResources } from "../../../src/documents/source-document.js";
import { kyvernoKind } from "../../../src/kinds/kyverno/kind.js";
import { LoadError } from "../../../src/kinds/load-error.js";

/** What is wrong and what is doubtful. */
function told(text: string): readonly string[] {
  const { documents } = parseResources(text, "f.yaml");
  const warnings: string[] = [];
  try {
    kyvernoKind().prepare({ id: "p", own: documents, others: [] }, (problem) => warnings.push(formatProblem(problem)));
    return warnings;
  } catch (cause) {
    assert.ok(cause instanceof LoadError);
    return cause.problems.map(formatProblem);
  }
}

const RULES =
  "matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}";
const policy = (spec: string, kind = "ValidatingPolicy"): string => `apiVersion: policies.kyverno.io/v1
kind: ${kind}
metadata: {name: p, namespace: ""}
spec:
  ${RULES}
  ${spec}
`;
const exception = (spec: string): string => `---
apiVersion: policies.kyverno.io/v1
kind: PolicyException
metadata: {name: e}
spec:
  policyRefs: [{name: p, kind: ValidatingPolicy}]
  ${spec}
`;

describe("documents of Kyverno", () => {
  test("are taken when nothing is wrong", () => {
    const entry = `---
apiVersion: kyverno.io/v2
kind: GlobalContextEntry
metadata: {name: g}
spec: {apiCall: {urlPath: /x}}
`;
    assert.deepEqual(told(`${policy("validations: [{expression: 'true'}]")}${exception("images: [a]")}${entry}`), []);
  });

  test("say where expressions are wrong, to the character", () => {
    const [problem, ...others] = told(policy("validations: [{expression: 'true && nope'}]"));
    const start = 'f.yaml:6:39: spec.validations[0].expression: Invalid value: "true && nope": ERROR: <input>:1:9';
    assert.equal(problem?.slice(0, start.length), start);
    assert.deepEqual(others, []);
  });

  test("say where members are unknown, and what to write instead", () => {
    const problems = told(policy("failureAction: Enforce\n  params: {}"));
    assert.deepEqual(
      problems.map((text) => text.replace(/: Invalid value.*unknown field/, "")),
      [
        "f.yaml:6:18: spec.failureAction: use spec.validationActions instead: [Deny] for Enforce, [Audit] for Audit",
        "f.yaml:7:11: spec.params: policies have no parameters: use resource.Get(...) or globalContext.Get(...) instead",
      ],
    );
  });

  test("say what is wrong with a variant only, where the policy has it", () => {
    // Namespaces have a name, but no template.
    const [problem] = told(
      policy(`validations: [{expression: '[namespaceObject].all(object, object.metadata.name != "x")'}]`),
    );
    assert.match(problem ?? "", /^f\.yaml:6:30: spec\.validations\[0\]\.expression: .*undefined field 'jobTemplate'/s);
  });

  test("say what is wrong with an exception at the exception", () => {
    const [problem] = told(
      `${policy("validations: [{expression: 'true'}]")}${exception("matchConditions: [{name: a, expression: nope}]")}`,
    );
    assert.match(problem ?? "", /^f\.yaml:13:\d+: spec\.matchConditions\[0\]\.expression: .*reference to 'nope'/s);
  });

  test("say what is wrong with a context entry", () => {
    const [problem] = told(`${policy("")}---
apiVersion: kyverno.io/v2
kind: GlobalContextEntry
metadata: {name: g}
spec: {kubernetesResource: {version: v2, resource: pods}}
`);
    assert.match(problem ?? "", /spec\.resource\.group: Required value: A Resource entry requires a group$/);
  });

  test("doubt controllers that nobody knows, which keeps no policy from acting", () => {
    const [warning] = told(policy("autogen: {podControllers: {controllers: [Deployment]}}"));
    assert.match(warning ?? "", /warning: spec\.autogen\.podControllers\.controllers\[0\]: no controller is called/);
  });
});
