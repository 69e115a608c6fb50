/** Documents are taken as a cluster would take them, and every mistake stands at its place in the file. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { formatProblem } from "../../../src/config/documents/problem.js";
import { parseResources } from "../../../src/config/documents/source-document.js";
import { createCompilers } from "../../../src/kinds/kyverno/dialect.js";
import { type PreparedDocuments, prepareDocuments } from "../../../src/kinds/kyverno/prepare-documents.js";

const compilers = createCompilers();
const NOW = Date.parse("2026-03-01T00:00:00Z");

function prepare(text: string): PreparedDocuments & { readonly told: readonly string[] } {
  const { documents } = parseResources(text, "f.yaml");
  const prepared = prepareDocuments(documents, { compilers, now: NOW });
  return { ...prepared, told: prepared.problems.map(formatProblem) };
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

describe("exceptions from ImageValidatingPolicies", () => {
  test("that are for some images only are said to have no effect", () => {
    const images = policy("attestors: []\n  validations: []", "ImageValidatingPolicy");
    const from = (spec: string) => exception(spec).replace("kind: ValidatingPolicy}", "kind: ImageValidatingPolicy}");
    assert.deepEqual(prepare(images + from("reportResult: skip")).told, []);
    for (const part of ["images: [nginx]", "allowedValues: [a]"])
      assert.match(
        prepare(images + from(part)).told.join(),
        /policyRefs\[0\]: the exception has no effect: .*leave out images and allowedValues/,
      );
    assert.deepEqual(prepare(policy("validations: [{expression: 'true'}]") + exception("images: [nginx]")).told, []);
  });
});

describe("documents of Kyverno", () => {
  test("are refused when they are for an authorization server, which would let every request pass", () => {
    for (const mode of ["HTTP", "Envoy"]) {
      const { policies, told } = prepare(policy(`evaluation: {mode: ${mode}}`));
      assert.deepEqual(policies, []);
      assert.equal(told.length, 1);
      assert.match(
        told[0] ?? "",
        new RegExp(`^f.yaml:6:\\d+: spec.evaluation.mode: the mode ${mode} is for an authorization server`),
      );
    }
  });

  test("are compiled together", () => {
    const { policies, exceptions, contextEntries, objects, told } = prepare(
      `${policy("validations: [{expression: 'true'}]")}${exception("images: [a]")}---
apiVersion: kyverno.io/v2
kind: GlobalContextEntry
metadata: {name: g}
spec: {apiCall: {urlPath: /x}}
---
apiVersion: v1
kind: Namespace
metadata: {name: n}
`,
    );
    assert.deepEqual(told, []);
    assert.deepEqual(
      policies.map(({ variants }) => variants.map(({ name }) => name)),
      [["", "cronjobs", "defaults"]],
    );
    assert.equal(policies[0]?.variants[0]?.exceptions.length, 1);
    assert.deepEqual(
      exceptions.map(({ metadata }) => metadata.namespace),
      ["default"],
    );
    assert.equal(contextEntries[0]?.spec.apiCall?.refreshInterval, "10m");
    assert.equal(objects.length, 1);
  });

  test("of a namespaced kind are in a namespace, as in a cluster", () => {
    const { policies } = prepare(policy("validations: [{expression: 'true'}]", "NamespacedValidatingPolicy"));
    assert.equal(policies[0]?.resource.metadata.namespace, "default");
  });

  test("say where expressions are wrong, to the character", () => {
    const { policies, told } = prepare(policy("validations: [{expression: 'true && nope'}]"));
    assert.deepEqual(policies, []);
    assert.match(
      told[0] ?? "",
      /^f\.yaml:6:39: spec\.validations\[0\]\.expression: Invalid value: "true && nope": ERROR: <input>:1:9/,
    );
  });

  test("say where members are unknown", () => {
    const { told } = prepare(policy("failureAction: Enforce\n  params: {}"));
    assert.deepEqual(
      told.map((text) => text.replace(/: Invalid value.*unknown field/, "")),
      [
        "f.yaml:6:18: spec.failureAction: use spec.validationActions instead: [Deny] for Enforce, [Audit] for Audit",
        "f.yaml:7:11: spec.params: policies have no parameters: use resource.Get(...) or globalContext.Get(...) instead",
      ],
    );
  });

  test("tell the mistakes of variants that the policy itself has not", () => {
    const { policies, told } = prepare(
      policy(`validations: [{expression: '[namespaceObject].all(object, object.metadata.name != "x")'}]`),
    );
    assert.deepEqual(policies, []);
    assert.match(
      told[0] ?? "",
      /undefined field 'jobTemplate'.*in the variant cronjobs, which is made for pod controllers/s,
    );
  });

  test("tell an exception's mistakes at the exception", () => {
    const { policies, exceptions, told } = prepare(
      `${policy("validations: [{expression: 'true'}]")}${exception("matchConditions: [{name: a, expression: nope}]")}`,
    );
    assert.match(
      told[0] ?? "",
      /^f\.yaml:13:\d+: spec\.matchConditions\[0\]\.expression: .*undeclared reference to 'nope'/s,
    );
    assert.deepEqual(exceptions, []);
    assert.deepEqual(
      policies.map(({ variants }) => variants[0]?.exceptions.length),
      [0],
    );
  });

  test("doubt exceptions that exempt nothing", () => {
    const { told } = prepare(exception("expiresAt: 2026-01-01T00:00:00Z"));
    assert.deepEqual(told, [
      'f.yaml:6:16: warning: spec.policyRefs[0]: the exception has no effect: there is no ValidatingPolicy "p"',
      "f.yaml:7:14: warning: spec.expiresAt: the exception has expired, and has no effect",
    ]);
  });

  test("doubt controllers that nobody knows, which keeps no policy from acting", () => {
    const { policies, told } = prepare(policy("autogen: {podControllers: {controllers: [Deployment]}}"));
    assert.equal(policies.length, 1);
    assert.match(
      told[0] ?? "",
      /warning: spec\.autogen\.podControllers\.controllers\[0\]: no controller is called "Deployment"/,
    );
  });
});
