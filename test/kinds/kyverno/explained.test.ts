/** What an explanation shows of Kyverno's policies. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { explanationText } from "../../../src/cli/explain/explanation.js";
import { explainAnswer } from "../../../src/kinds/explanation/index.js";
import { preparePolicies } from "../../../src/kinds/kyverno/index.js";
import { KyvernoPolicySet } from "../../../src/kinds/kyverno/policy.js";
import type { ExceptionResource, PolicyResource } from "../../../src/kinds/kyverno/resource.js";
import { type Asking, Explainer } from "../../../src/kinds/shared/index.js";
import type { Review } from "../../../src/policy/index.js";
import { answerOf } from "../../support/asking.js";
import { context, exception, PODS, policy, review, world } from "./asked.js";

function explained(
  policies: readonly PolicyResource[],
  about: Review,
  exceptions: readonly ExceptionResource[] = [],
): readonly string[] {
  const watcher = new Explainer();
  const prepared = preparePolicies(policies, exceptions, { watcher });
  assert.deepEqual(prepared.failures, []);
  const set = new KyvernoPolicySet(prepared.policies, { id: "p", world: world(), watcher });
  const asked: Asking[] = [];
  const outcome = answerOf(
    watcher.explained(set, (asking) => asked.push(asking)),
    about,
    context(),
  );
  return asked.flatMap((asking) => explanationText(explainAnswer(asking, outcome, () => new Map())).split("\n"));
}

const pods = (spec: object, name: string): PolicyResource =>
  policy({ matchConstraints: { resourceRules: [PODS] }, ...spec } as never, { name });

const deployment = review({
  kind: { group: "apps", version: "v1", kind: "Deployment" },
  resource: { group: "apps", version: "v1", resource: "deployments" },
  object: {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web" },
    spec: { template: { spec: { containers: [{ name: "a", image: "x:latest" }] } } },
  },
});

test("of a policy's variants the one that was evaluated is shown, and says for what it is", () => {
  const latest = pods(
    {
      variables: [
        { name: "images", expression: "object.spec.containers.map(c, c.image)" },
        { name: "unused", expression: "object.spec.hostNetwork" },
      ],
      validations: [
        {
          expression: "variables.images.all(i, !i.endsWith(':latest'))",
          messageExpression: "'not ' + variables.images[0]",
        },
        { expression: "true" },
      ],
      auditAnnotations: [{ key: "images", valueExpression: "variables.images.join(',')" }],
    },
    "latest",
  );
  const services = policy(
    {
      matchConstraints: {
        resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["services"] }],
      },
      validations: [{ expression: "false" }],
    },
    { name: "services" },
  );
  assert.deepEqual(explained([latest, services], deployment), [
    "p (ValidatingPolicy): denied: Policy latest failed: not x:latest",
    "  ValidatingPolicy 'latest' for Deployments (autogen): fail: not x:latest",
    '    spec.variables[0].expression (images): object.spec.template.spec.containers.map(c, c.image)  →  ["x:latest"]',
    "    spec.variables[1].expression (unused): object.spec.template.spec.hostNetwork  →  not evaluated",
    "    spec.validations[0].expression: variables.images.all(i, !i.endsWith(':latest'))  →  false",
    '      variables.images  →  ["x:latest"]',
    '      !i.endsWith(":latest")  →  false',
    '        i.endsWith(":latest")  →  true',
    '          i  →  "x:latest"',
    "    spec.validations[1].expression: true  →  not evaluated",
    "    spec.validations[0].messageExpression: 'not ' + variables.images[0]  →  \"not x:latest\"",
    "    spec.auditAnnotations[0].valueExpression (images): variables.images.join(',')  →  \"x:latest\"",
    "  ValidatingPolicy 'services': does not match",
  ]);
});

test("the policy as it was written has no addition, and false match conditions and exceptions are told", () => {
  const conditional = pods(
    {
      matchConditions: [{ name: "c", expression: "object.metadata.name == 'other'" }],
      validations: [{ expression: "false" }],
    },
    "conditional",
  );
  const exempt = pods({ validations: [{ expression: "false" }] }, "p");
  const exempting = exception({ matchConditions: [{ name: "mine", expression: "object.metadata.name == 'web'" }] });
  assert.deepEqual(explained([conditional, exempt], review(), [exempting]), [
    "p (ValidatingPolicy): does not apply: a match condition is false",
    "  ValidatingPolicy 'conditional': does not apply: a match condition is false",
    "    spec.matchConditions[0].expression (c): object.metadata.name == 'other'  →  false",
    '      object.metadata.name  →  "web"',
    '        object.metadata  →  {"name": "web", "namespace": "ns"}',
    '          object  →  {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "ns"}, "spec": {"a": 1}…',
    "    spec.validations[0].expression: false  →  not evaluated",
    "  ValidatingPolicy 'p': does not apply: rule is skipped due to policy exception: ns/e",
    "    PolicyException 'ns/e': spec.matchConditions[0].expression (mine): object.metadata.name == 'web'  →  true",
    "    spec.validations[0].expression: false  →  not evaluated",
  ]);
});

test("an error stands where it arose", () => {
  const failing = pods({ validations: [{ expression: "object.spec.b == 1" }] }, "failing");
  assert.deepEqual(explained([failing], review()), [
    "p (ValidatingPolicy): failed: Policy failing error: error: no such key: b",
    "  ValidatingPolicy 'failing': error: no such key: b",
    "    spec.validations[0].expression: object.spec.b == 1  →  error: no such key: b",
    "      object.spec.b  →  error: no such key: b",
    '        object.spec  →  {"a": 1}',
    '          object  →  {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "ns"}, "spec": {"a": 1}…',
  ]);
});
