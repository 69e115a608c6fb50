/** What is refused when a policy is created; the released program's own answers are in policy-checks.jsonl. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { checkPolicy, checkTexts, policyWarnings } from "../../../src/kinds/kyverno/check-policy.js";
import { compileMistakes } from "../../../src/kinds/kyverno/compile.js";
import { createCompilers } from "../../../src/kinds/kyverno/dialect.js";
import { NamedObjects } from "../../../src/kinds/kyverno/named-objects.js";
import type { PolicyResource, PolicySpec } from "../../../src/kinds/kyverno/resource.js";
import { formatFieldError, formatPath } from "../../../src/kubernetes/field-error.js";

const RULE = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] };
const about = (spec: PolicySpec): PolicySpec => ({ matchConstraints: { resourceRules: [RULE] }, ...spec });
const policy = (spec: PolicySpec, kind: PolicyResource["kind"] = "ValidatingPolicy"): PolicyResource => ({
  apiVersion: "policies.kyverno.io/v1",
  kind,
  metadata: { name: "p", ...(kind === "NamespacedValidatingPolicy" && { namespace: "n" }) },
  spec,
});
const texts = (resource: PolicyResource): readonly string[] => checkPolicy(resource).map(formatFieldError);
const warnings = (spec: PolicySpec): readonly string[] =>
  policyWarnings(policy(about({ validations: [{ expression: "true" }], ...spec }))).map(
    ({ path, text }) => `${formatPath(path)}: ${text}`,
  );

describe("the check at creation", () => {
  test("says what the released program says, in its order", () => {
    const file = new URL("../../../../test/vectors/kyverno/policy-checks.jsonl", import.meta.url);
    const compilers = createCompilers();
    const objects = new NamedObjects();
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    for (const line of lines) {
      const { id, policy: resource, errors = [] } = JSON.parse(line);
      assert.deepEqual(checkTexts(resource, compileMistakes(resource, compilers), objects), errors, id);
    }
    assert.ok(lines.length >= 30);
  });

  test("wants a resource rule, also of a policy for JSON", () => {
    const missing =
      "spec.matchConstraints: Required value: a matchConstraints with at least one resource rule is required";
    assert.deepEqual(texts(policy({})), [missing]);
    assert.deepEqual(texts(policy({ matchConstraints: { resourceRules: [] }, evaluation: { mode: "JSON" } })), [
      missing,
    ]);
    assert.deepEqual(texts(policy(about({}))), []);
  });

  test("refuses http and globalContext to policies of a namespace, wherever they stand", () => {
    const http = 'http.Get("http://x").a == 1';
    const context = 'globalContext.Get("a", "") == 1';
    const spec = about({
      variables: [{ name: "v", expression: http }],
      auditAnnotations: [{ key: "k", valueExpression: context }],
    });
    assert.deepEqual(texts(policy(spec)), []);
    assert.deepEqual(texts(policy(spec, "NamespacedValidatingPolicy")), [
      "spec: Forbidden: globalContext.* is not allowed in namespaced policies",
      "spec: Forbidden: http.* is not allowed in namespaced policies; set --allowHTTPInNamespacedPolicies to enable",
    ]);
    for (const part of [{ matchConditions: [{ expression: http }] }, { validations: [{ messageExpression: http }] }]) {
      assert.equal(texts(policy(about(part), "NamespacedValidatingPolicy")).length, 1);
    }
  });

  test("goes by the namespace that a file names, not by the kind", () => {
    const spec = about({ validations: [{ expression: 'http.Get("http://x").a == 1' }] });
    const kinds = ["ValidatingPolicy", "NamespacedValidatingPolicy"] as const;
    for (const kind of kinds) {
      assert.equal(texts({ ...policy(spec, kind), metadata: { name: "p" } }).length, 0, kind);
      assert.equal(texts({ ...policy(spec, kind), metadata: { name: "p", namespace: "n" } }).length, 1, kind);
    }
  });

  test("finds names, not texts", () => {
    const named = (expression: string): boolean =>
      new NamedObjects().mentions({ validations: [{ expression }] }, "http");
    assert.equal(named("http"), true);
    assert.equal(named("[1].exists(x, http.Get('u').n == x)"), true);
    assert.equal(named("object.http == 'http'"), false);
    assert.equal(named("http +"), false);
    // The reference reads expressions without optionals here; when it runs, it refuses the call.
    assert.equal(named("http.Get(object.?u.orValue('')).n == 1"), false);
  });
});

describe("doubts about a policy", () => {
  test("are none for an ordinary one", () => {
    assert.deepEqual(warnings({ autogen: { podControllers: { controllers: ["jobs", "a.v1.g"] } } }), []);
    for (const mode of ["Kubernetes", "JSON", "HTTP", "Envoy", ""])
      assert.deepEqual(warnings({ evaluation: { mode } }), []);
  });

  test("tell of one that has neither validations nor annotations", () => {
    assert.deepEqual(warnings({ validations: [] }), [
      "spec.validations: there are none: the policy judges nothing, so that it lets every request pass",
    ]);
    assert.deepEqual(warnings({ validations: [], auditAnnotations: [{ key: "a", valueExpression: "'x'" }] }), []);
  });

  test("tell of controllers that nobody knows", () => {
    const [warning, ...others] = warnings({ autogen: { podControllers: { controllers: ["jobs", "Deployment"] } } });
    assert.match(
      warning ?? "",
      /^spec\.autogen\.podControllers\.controllers\[1\]: no controller is called "Deployment"/,
    );
    assert.deepEqual(others, []);
  });

  test("tell of modes that nobody knows", () => {
    assert.match(
      warnings({ evaluation: { mode: "json" } })[0] ?? "",
      /^spec\.evaluation\.mode: there is no mode "json"/,
    );
  });

  test("tell of constraints that match nothing", () => {
    const rule = { ...RULE, operations: ["create"] };
    const [warning] = warnings({ matchConstraints: { resourceRules: [rule] } });
    assert.match(
      warning ?? "",
      /^spec\.matchConstraints\.resourceRules\[0\]\.operations\[0\]: Unsupported value: "create"/,
    );
    assert.equal(warnings({ matchConstraints: { resourceRules: [{ ...RULE, operations: [] }] } }).length, 1);
  });
});
