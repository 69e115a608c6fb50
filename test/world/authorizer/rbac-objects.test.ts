import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { formatFieldError } from "../../../src/kubernetes/field-error.js";
import { checkRbacObject } from "../../../src/world/authorizer/rbac-checks.js";
import { isRbacObject, readRbacObject } from "../../../src/world/authorizer/rbac-objects.js";

const apiVersion = "rbac.authorization.k8s.io/v1";
const ROLE = { apiVersion, kind: "Role", metadata: { name: "r", namespace: "n" } };
const BINDING = {
  ...ROLE,
  kind: "RoleBinding",
  roleRef: { kind: "Role", name: "r" },
  subjects: [{ kind: "User", name: "alice" }],
};
const CLUSTER_BINDING = {
  ...BINDING,
  kind: "ClusterRoleBinding",
  metadata: { name: "b" },
  roleRef: { kind: "ClusterRole", name: "r" },
};

/** What is wrong with an object. */
function mistakes(value: unknown): string[] {
  const read = readRbacObject(value);
  return ("kind" in read ? checkRbacObject(read) : read).map(formatFieldError);
}

describe("objects of RBAC", () => {
  test("are taken whole, with what the API server fills in", () => {
    assert.deepEqual(readRbacObject({ ...BINDING, metadata: { ...BINDING.metadata, labels: { a: "b" } } }), {
      kind: "RoleBinding",
      namespace: "n",
      name: "r",
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "r" },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "alice", namespace: "" }],
    });
    const rule = { verbs: ["use"], apiGroups: [""], resources: ["x"] };
    const role = { ...ROLE, kind: "ClusterRole", metadata: { name: "r" }, rules: [rule], aggregationRule: {} };
    const read = { kind: "ClusterRole", namespace: "", name: "r", aggregated: true };
    assert.deepEqual(readRbacObject(role), { ...read, rules: [{ ...rule, resourceNames: [], nonResourceURLs: [] }] });
    assert.deepEqual(readRbacObject({ ...role, rules: null, aggregationRule: null }), {
      ...read,
      rules: [],
      aggregated: false,
    });
  });

  test("with a field that is misspelt are refused: it might have narrowed what they allow", () => {
    const rule = { verbs: ["use"], apiGroups: ["*"], resources: ["*"], resourceName: ["p"], constructor: [] };
    assert.deepEqual(mistakes({ ...ROLE, rules: [rule], Rules: [] }), [
      'rules[0].resourceName: unknown field (did you mean "resourceNames"?)',
      "rules[0].constructor: unknown field",
      'Rules: unknown field (did you mean "rules"?)',
    ]);
    assert.deepEqual(mistakes({ ...BINDING, metadata: { name: "b", namespaces: "n" } }), [
      'metadata.namespaces: unknown field (did you mean "namespace"?)',
    ]);
    assert.deepEqual(mistakes({ ...ROLE, aggregationRule: {} }), ["aggregationRule: unknown field"]);
  });

  test("with values of another type are refused", () => {
    assert.deepEqual(mistakes({ ...ROLE, rules: [{ verbs: "use", apiGroups: [1], resources: [null] }, null] }), [
      'rules[0].verbs: Invalid value: "string": must be a list',
      'rules[0].apiGroups[0]: Invalid value: "number": must be a string',
      'rules[0].resources[0]: Invalid value: "null": must be a string',
      'rules[1]: Invalid value: "null": must be an object',
    ]);
    assert.deepEqual(mistakes({ ...BINDING, metadata: [], roleRef: "r", subjects: {} }), [
      'metadata: Invalid value: "list": must be an object',
      'roleRef: Invalid value: "string": must be an object',
      'subjects: Invalid value: "object": must be a list',
    ]);
  });

  test("of a version or kind that there is not are refused", () => {
    assert.deepEqual(mistakes({ ...ROLE, apiVersion: "rbac.authorization.k8s.io/v1beta1" }), [
      'apiVersion: Invalid value: "rbac.authorization.k8s.io/v1beta1": must be "rbac.authorization.k8s.io/v1"',
    ]);
    assert.deepEqual(mistakes({ ...ROLE, kind: "RoleBindng" }), [
      'kind: Invalid value: "RoleBindng": must be "Role" or "ClusterRole" or "RoleBinding" or "ClusterRoleBinding" (did you mean "RoleBinding"?)',
    ]);
  });

  test("are known as such also where that is misspelt, but not those of other APIs", () => {
    const known = [
      ROLE,
      { ...ROLE, kind: "Rule" },
      { ...ROLE, apiVersion: "rbac.authorisation.k8s.io/v1" },
      { ...ROLE, apiVersion: "rbac/v1" },
      { ...ROLE, apiVersion: "v1" },
    ];
    for (const value of known) assert.ok(isRbacObject(value), JSON.stringify(value));
    const others = [
      { ...ROLE, apiVersion: "iam.example.org/v1" },
      { apiVersion: "v1", kind: "ConfigMap" },
      { apiVersion: "v1", kind: "constructor" },
      null,
    ];
    for (const value of others) assert.ok(!isRbacObject(value), JSON.stringify(value));
  });

  test("are checked as the API server checks them", () => {
    assert.deepEqual(mistakes({ ...ROLE, metadata: {} }), [
      "metadata.name: Required value",
      "metadata.namespace: Required value",
    ]);
    assert.deepEqual(
      mistakes({ ...ROLE, rules: [{}, { verbs: ["get"], nonResourceURLs: ["/<"], resources: ["x"] }] }),
      [
        "rules[0].verbs: Required value: verbs must contain at least one value",
        "rules[0].apiGroups: Required value: resource rules must supply at least one api group",
        "rules[0].resources: Required value: resource rules must supply at least one resource",
        'rules[1].nonResourceURLs: Invalid value: ["/\\u003c"]: namespaced rules cannot apply to non-resource URLs',
        'rules[1].nonResourceURLs: Invalid value: ["/\\u003c"]: rules cannot apply to both regular resources and non-resource URLs',
      ],
    );
    const roleRef = { apiGroup: "rbac", kind: "ClusterRol", name: "" };
    assert.deepEqual(mistakes({ ...BINDING, roleRef }), [
      'roleRef.apiGroup: Unsupported value: "rbac": supported values: "rbac.authorization.k8s.io"',
      'roleRef.kind: Unsupported value: "ClusterRol": supported values: "Role", "ClusterRole" (did you mean "ClusterRole"?)',
      "roleRef.name: Required value",
    ]);
    assert.deepEqual(mistakes({ ...CLUSTER_BINDING, roleRef: BINDING.roleRef }), [
      'roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"',
    ]);
    const subjects = [
      { kind: "User", apiGroup: "v1" },
      { kind: "ServiceAccount", name: "a" },
      { kind: "ServiceAccount", name: "a", namespace: "n", apiGroup: "v1" },
      { kind: "Users", name: "a" },
    ];
    assert.deepEqual(mistakes({ ...CLUSTER_BINDING, subjects }), [
      "subjects[0].name: Required value",
      'subjects[0].apiGroup: Unsupported value: "v1": supported values: "rbac.authorization.k8s.io"',
      "subjects[1].namespace: Required value",
      'subjects[2].apiGroup: Unsupported value: "v1": supported values: ""',
      'subjects[3].kind: Unsupported value: "Users": supported values: "ServiceAccount", "User", "Group" (did you mean "User"?)',
    ]);
    assert.deepEqual(mistakes({ ...BINDING, subjects: [{ kind: "ServiceAccount", name: "a" }] }), []);
  });
});
