import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject } from "../../../src/kubernetes/object.js";
import {
  ALL,
  binding,
  DEPLOYMENT,
  decided,
  denial,
  denied,
  deployment,
  matching,
  namespaceObject,
  policy,
  request,
  rule,
  validations,
} from "./tricky.js";

const POD = ["", "v1", "pods", "Pod"] as const;
const NAMESPACE = ["", "v1", "namespaces", "Namespace"] as const;
const SPACE = ["acme.example", "v1", "namespaces", "Space"] as const;
const matches = (parts: JsonObject): boolean => denial(parts) !== undefined;
const selecting = (namespaceSelector: JsonObject): JsonObject => ({
  matchConstraints: { resourceRules: [ALL], namespaceSelector },
});
const selectingObjects = (objectSelector: JsonObject): JsonObject => ({
  matchConstraints: { resourceRules: [ALL], objectSelector },
});
const PROD = { matchLabels: { env: "prod" } };
const prodSpace = { metadata: { name: "web", labels: { env: "prod" } } };
const exec = request(POD, {
  kind: { group: "", version: "v1", kind: "PodExecOptions" },
  subResource: "exec",
  operation: "CONNECT",
  namespace: "ns",
  options: null,
  object: { apiVersion: "v1", kind: "PodExecOptions", metadata: undefined },
});
const set = (...versions: readonly (readonly [string, string])[]): JsonObject => ({
  resources: versions.map(([group, version]) => ({
    group,
    version,
    resource: "deployments",
    kind: { group, version, kind: "Deployment" },
  })),
});
const OLD = set(["apps", "v1"], ["apps", "v1beta1"], ["extensions", "v1beta1"]);

describe("tricky cases: which requests (spec validating-admission-policy.md 13)", () => {
  test("1: a policy without any binding is not asked", () => {
    assert.equal(denial({ bindings: [] }), undefined);
  });
  test("2: a binding that names no policy does nothing", () => {
    assert.equal(denial({ binding: { policyName: "other.acme.example" } }), undefined);
  });
  test("3: pods/* matches pods itself", () => {
    assert.ok(matches({ spec: matching(rule("", "v1", "pods/*")), request: request(POD, { namespace: "ns" }) }));
  });
  test("4: * does not match pods/exec", () => {
    assert.ok(!matches({ spec: matching(rule("*", "*", "*")), request: exec }));
  });
  test("5: */* matches CONNECT of pods/exec, whose object are options", () => {
    const spec = validations("object.kind == 'PodExecOptions' && oldObject == null && request.options == null");
    assert.equal(denial({ spec, request: exec }), undefined);
    assert.ok(matches({ request: exec }));
  });
  test("6: a Namespace is cluster-scoped although its request has a namespace", () => {
    const update = request(NAMESPACE, { operation: "UPDATE", name: "ns", namespace: "ns" });
    assert.ok(!matches({ spec: matching({ ...ALL, scope: "Namespaced" }), request: update }));
    assert.ok(matches({ spec: matching({ ...ALL, scope: "Cluster" }), request: update }));
  });
  test("7: a namespace selector says nothing about a Node", () => {
    assert.ok(matches({ spec: selecting(PROD), request: request(["", "v1", "nodes", "Node"]) }));
  });
  test("8: updating a Namespace, its new labels decide", () => {
    const update = (labels: JsonObject): JsonObject =>
      request(NAMESPACE, {
        operation: "UPDATE",
        name: "ns",
        namespace: "ns",
        object: { metadata: { name: "ns", labels } },
      });
    assert.ok(matches({ spec: selecting(PROD), request: update({ env: "prod" }) }));
    assert.ok(
      !matches({ spec: selecting(PROD), request: update({}), namespaces: [namespaceObject("ns", { env: "prod" })] }),
    );
  });
  test("9: so they do for namespaces of another group", () => {
    assert.ok(matches({ spec: selecting(PROD), request: request(SPACE, { object: prodSpace }) }));
    assert.ok(!matches({ spec: selecting(PROD), request: request(SPACE) }));
  });
  test("10: deleting a Namespace, the stored labels decide", () => {
    const remove = request(NAMESPACE, {
      operation: "DELETE",
      name: "ns",
      namespace: "ns",
      object: null,
      oldObject: namespaceObject("ns"),
    });
    assert.ok(
      matches({ spec: selecting(PROD), request: remove, namespaces: [namespaceObject("ns", { env: "prod" })] }),
    );
  });
  test("11: so they do for its subresources", () => {
    const status = request(NAMESPACE, {
      operation: "UPDATE",
      subResource: "status",
      name: "ns",
      namespace: "ns",
      object: { metadata: { name: "ns", labels: { env: "prod" } } },
    });
    assert.ok(!matches({ spec: selecting(PROD), request: status }));
    assert.ok(
      matches({ spec: selecting(PROD), request: status, namespaces: [namespaceObject("ns", { env: "prod" })] }),
    );
  });
  test("12: NotIn matches where the label is missing", () => {
    const spec = selecting({ matchExpressions: [{ key: "env", operator: "NotIn", values: ["dev"] }] });
    assert.ok(matches({ spec }));
  });
  test("13: an object selector sees the old object too", () => {
    const oldObject = { ...DEPLOYMENT, metadata: { name: "web", labels: { app: "x" } } };
    const update = deployment({ operation: "UPDATE", oldObject });
    assert.ok(matches({ spec: selectingObjects({ matchLabels: { app: "x" } }), request: update }));
  });
  test("14: also for what the old object lacks", () => {
    const object = { ...DEPLOYMENT, metadata: { name: "web", labels: { skip: "" } } };
    const update = deployment({ operation: "UPDATE", object, oldObject: DEPLOYMENT });
    assert.ok(
      matches({
        spec: selectingObjects({ matchExpressions: [{ key: "skip", operator: "DoesNotExist" }] }),
        request: update,
      }),
    );
  });
  test("15: options have no metadata, so that no selector matches them", () => {
    const spec = selectingObjects({ matchExpressions: [{ key: "skip", operator: "DoesNotExist" }] });
    assert.ok(!matches({ spec, request: exec }));
  });
  test("16: a generated name is the name", () => {
    const spec = matching({ ...ALL, resourceNames: ["web"] });
    assert.ok(!matches({ spec, request: deployment({ name: "web-x1" }) }));
  });
  test("17, 18: one of a deleted collection has no name", () => {
    const remove = deployment({ operation: "DELETE", name: "", object: null, oldObject: DEPLOYMENT });
    assert.ok(!matches({ spec: matching({ ...ALL, resourceNames: ["web"] }), request: remove }));
    assert.match(decided({ request: remove }).status?.message ?? "", /^deployments.apps "Unknown" is forbidden: /);
  });
  test("19: an exclude rule beats the same rule", () => {
    const constraints = { resourceRules: [ALL], excludeResourceRules: [ALL] };
    assert.ok(!matches({ spec: { matchConstraints: constraints } }));
  });
  test("20, 21: an exclude rule sees equivalents only with Equivalent", () => {
    const excluding = (matchPolicy: string): JsonObject => ({
      matchConstraints: {
        matchPolicy,
        resourceRules: [ALL],
        excludeResourceRules: [rule("extensions", "v1beta1", "deployments")],
      },
    });
    assert.ok(matches({ spec: excluding("Exact"), equivalents: [OLD] }));
    assert.ok(!matches({ spec: excluding("Equivalent"), equivalents: [OLD] }));
  });
  test("22: an equivalent match converts the object", () => {
    const spec = {
      ...matching(rule("apps", "v1beta1", "deployments")),
      ...validations(
        "request.kind.version == 'v1beta1' && request.requestKind.version == 'v1' && object.apiVersion == 'apps/v1beta1' && false",
      ),
    };
    assert.match(denial({ spec, equivalents: [OLD] }) ?? "", /failed expression/);
    const holds = {
      ...spec,
      ...validations("object.apiVersion == 'apps/v1beta1' && request.requestKind.version == 'v1'"),
    };
    assert.equal(denial({ spec: holds, equivalents: [OLD] }), undefined);
  });
  test("23: a match condition sees the original resource", () => {
    const spec = {
      ...matching(rule("apps", "v1beta1", "deployments")),
      matchConditions: [
        { name: "c", expression: "request.kind.version == 'v1beta1' && request.resource.version == 'v1'" },
      ],
    };
    assert.ok(matches({ spec, equivalents: [OLD] }));
  });
  test("24: the first rule with an equivalent wins", () => {
    const rules = matching(rule("extensions", "v1beta1", "deployments"), rule("apps", "v1beta1", "deployments"));
    const spec = { ...rules, ...validations("request.kind.group != 'extensions'") };
    assert.ok(matches({ spec, equivalents: [OLD] }));
  });
  test("25: an exact match is preferred to equivalents of earlier rules", () => {
    const rules = matching(
      rule("extensions", "v1beta1", "deployments"),
      rule("apps", "v1beta1", "deployments"),
      rule("apps", "v1", "deployments"),
    );
    const spec = { ...rules, ...validations("request.kind.group == 'apps' && request.kind.version == 'v1'") };
    assert.ok(!matches({ spec, equivalents: [OLD] }));
  });
  const broken = (resource: string): JsonObject => ({
    matchConstraints: {
      resourceRules: [rule("*", "*", resource)],
      namespaceSelector: { matchLabels: { env: "bad value" } },
    },
  });
  test("26, 27: a broken selector only matters where the rules match", () => {
    assert.equal(denial({ spec: broken("pods") }), undefined);
    assert.match(
      denial({ spec: broken("deployments") }) ?? "",
      /^ValidatingAdmissionPolicy 'p.acme.example' denied request: failed to configure policy: Internal error occurred: /,
    );
  });
  test("28: selectors that nobody defaulted", () => {
    const text = "a nil namespace selector was passed, please ensure selectors are initialized properly";
    assert.equal(
      denial({ raw: true }),
      `ValidatingAdmissionPolicy 'p.acme.example' denied request: failed to configure policy: ${text}`,
    );
  });
  test("29: policies do not see policies", () => {
    const resource = [
      "admissionregistration.k8s.io",
      "v1",
      "validatingadmissionpolicies",
      "ValidatingAdmissionPolicy",
    ] as const;
    assert.ok(!matches({ request: request(resource) }));
  });
  test("90: a paramKind that cannot be read keeps the policy from acting", () => {
    assert.ok(!matches({ spec: { paramKind: { apiVersion: "a/b/c", kind: "X" } } }));
  });
  test("93: options without a name", () => {
    const { status } = decided({ request: { ...exec, name: "" } });
    assert.match(status?.message ?? "", /^pods "Unknown\/errorGettingName" is forbidden: /);
  });
  test("95: an equivalent of unknown kind fails before names are looked at", () => {
    const resources = [
      { group: "apps", version: "v1beta1", resource: "deployments" },
      ...(OLD.resources as JsonObject[]),
    ];
    const spec = matching(rule("apps", "v1beta1", "deployments", { resourceNames: ["other"] }));
    assert.match(denial({ spec, equivalents: [{ resources }] }) ?? "", /unknown kind$/);
  });
  test("97: a cluster-scoped namespaces of another group has no stored Namespace", () => {
    const remove = request(SPACE, { operation: "DELETE", object: null, oldObject: { metadata: { name: "web" } } });
    assert.match(
      denial({ spec: selecting(PROD), request: remove }) ?? "",
      /failed to configure policy: Internal error occurred: resource name may not be empty$/,
    );
  });
  test("the order of policies and bindings is that of their names", () => {
    const second = policy({}, "a.acme.example");
    const bindings = [binding(), binding({ policyName: "a.acme.example" }, "c"), binding({}, "a")];
    const parts = { policies: [policy(), second], bindings };
    assert.match(denial(parts) ?? "", /'a.acme.example' with binding 'c'/);
    assert.equal(denial({ ...parts, policies: [policy()] })?.includes("with binding 'a'"), true);
    assert.equal(denied("x").includes("with binding 'b'"), true);
  });
});
