import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { AuthorizerAttributes, AuthorizerUser } from "../../../src/world/authorizer/authorizer.js";
import { RbacAuthorizer } from "../../../src/world/authorizer/rbac-authorizer.js";
import { type RbacObject, readRbacObject } from "../../../src/world/authorizer/rbac-objects.js";
import { readCases } from "../../support/certificate-request-policy-vectors.js";

const ALICE: AuthorizerUser = { name: "alice", uid: "", groups: [], extra: {} };
const USE: AuthorizerAttributes = {
  user: ALICE,
  verb: "use",
  group: "policy.cert-manager.io",
  version: "",
  resource: "certificaterequestpolicies",
  subresource: "",
  namespace: "sandbox",
  name: "p",
  path: "",
  fieldSelector: "",
  labelSelector: "",
  selectorError: "",
};

const apiVersion = "rbac.authorization.k8s.io/v1";
const clusterRole = (name: string, ...rules: object[]) => ({
  apiVersion,
  kind: "ClusterRole",
  metadata: { name },
  rules,
});
const bound = (role: string, ...subjects: object[]) => ({
  apiVersion,
  kind: "ClusterRoleBinding",
  metadata: { name: `b-${role}` },
  roleRef: { kind: "ClusterRole", name: role },
  subjects,
});
const toAlice = { kind: "User", name: "alice" };

function authorizerOf(...objects: readonly unknown[]): RbacAuthorizer {
  return new RbacAuthorizer(objects.map((object) => readable(readRbacObject(object))));
}

function readable(read: ReturnType<typeof readRbacObject>): RbacObject {
  assert.ok("kind" in read, JSON.stringify(read));
  return read;
}

const allows = (authorizer: RbacAuthorizer, asked: Partial<AuthorizerAttributes>): boolean =>
  authorizer.authorize({ ...USE, ...asked }).decision === "allow";

describe("who may use a policy", () => {
  const cases = readCases("curated.jsonl").filter(({ id }) => id.startsWith("rbac/"));
  assert.ok(cases.length > 20);
  for (const { id, rbac, policies, certificateRequest, expect } of cases) {
    test(`is as in the cluster: ${id}`, () => {
      const { metadata, spec } = certificateRequest as never as {
        metadata: { namespace: string };
        spec: { username?: string; groups?: string[] };
      };
      const user = { ...ALICE, name: spec.username ?? "", groups: spec.groups ?? [] };
      const authorizer = authorizerOf(...((rbac ?? []) as unknown[]));
      const names = (policies as { metadata: { name: string } }[]).map((policy) => policy.metadata.name).sort();
      const mayUse = names.filter((name) => allows(authorizer, { user, name, namespace: metadata.namespace }));
      assert.deepEqual(mayUse, expect.mayUse ?? []);
    });
  }
});

describe("rights by roles", () => {
  test("hold for the names that a rule has, of all roles that are bound", () => {
    const rule = (...resourceNames: string[]) => ({
      verbs: ["use"],
      apiGroups: ["*"],
      resources: ["*"],
      resourceNames,
    });
    const authorizer = authorizerOf(
      clusterRole("a", rule("p", "q")),
      clusterRole("b", rule("r")),
      bound("a", toAlice),
      bound("b", toAlice),
    );
    const names = ["p", "q", "r", "s", "", "__proto__"];
    assert.deepEqual(
      names.filter((name) => allows(authorizer, { name })),
      ["p", "q", "r"],
    );
  });

  test("of one question say nothing of another", () => {
    const authorizer = authorizerOf(
      clusterRole("r", {
        verbs: ["use"],
        apiGroups: ["policy.cert-manager.io"],
        resources: ["certificaterequestpolicies"],
      }),
      bound("r", toAlice),
    );
    const bob = { ...ALICE, name: "bob" };
    const others = [{ user: bob }, { verb: "get" }, { group: "" }, { resource: "pods" }, { subresource: "status" }];
    for (const other of others) {
      assert.ok(allows(authorizer, {}));
      assert.ok(!allows(authorizer, other), JSON.stringify(other));
    }
  });

  test("in one namespace are none in another", () => {
    const metadata = { name: "r", namespace: "sandbox" };
    const authorizer = authorizerOf(
      { apiVersion, kind: "Role", metadata, rules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }] },
      { ...bound("r", toAlice), kind: "RoleBinding", metadata, roleRef: { kind: "Role", name: "r" } },
    );
    for (const namespace of ["sandbox", "other", "", "sandbox"]) {
      assert.equal(allows(authorizer, { namespace }), namespace === "sandbox");
    }
  });

  test("of a RoleBinding that is in no namespace hold nowhere", () => {
    const authorizer = authorizerOf(clusterRole("r", { verbs: ["*"], apiGroups: ["*"], resources: ["*"] }), {
      ...bound("r", toAlice),
      kind: "RoleBinding",
    });
    for (const namespace of ["", "sandbox"]) assert.ok(!allows(authorizer, { namespace }));
  });

  test("to subresources are given by both names, by a star before, and by a star", () => {
    const asked = { resource: "pods", group: "", subresource: "exec" };
    const given = (resource: string) =>
      authorizerOf(clusterRole("r", { verbs: ["use"], apiGroups: [""], resources: [resource] }), bound("r", toAlice));
    for (const resource of ["pods/exec", "*/exec", "*"]) assert.ok(allows(given(resource), asked), resource);
    for (const resource of ["pods", "exec", "*/log", "pods/*", "*/*", "po*"]) {
      assert.ok(!allows(given(resource), asked), resource);
    }
  });

  test("to paths end in a star for all that begin so", () => {
    const authorizer = authorizerOf(
      clusterRole("r", { verbs: ["get"], nonResourceURLs: ["/healthz", "/logs/*", "/x**"] }),
      bound("r", toAlice),
    );
    const granted = ["/healthz", "/logs/", "/logs/a/b", "/x", "/xy", "/x*y"];
    for (const path of [...granted, "/healthz/", "/logs", "/", "/y"]) {
      assert.equal(allows(authorizer, { verb: "get", path }), granted.includes(path), path);
    }
    assert.ok(!allows(authorizer, { verb: "put", path: "/healthz" }));
  });

  test("are not needed by the privileged group", () => {
    const user = { ...ALICE, groups: ["a", "system:masters"] };
    assert.ok(allows(authorizerOf(), { user }));
    assert.ok(allows(authorizerOf(), { user, path: "/any" }));
    assert.ok(!allows(authorizerOf(), { user: { ...ALICE, name: "system:masters" } }));
  });

  test("say who gave them", () => {
    const rules = [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }];
    const authorizer = authorizerOf(clusterRole("r", ...rules), bound("r", { kind: "Group", name: "dev" }));
    assert.equal(
      authorizer.authorize({ ...USE, user: { ...ALICE, groups: ["dev"] } }).reason,
      'RBAC: allowed by ClusterRoleBinding "b-r" of ClusterRole "r" to Group "dev"',
    );
  });

  test("of one user are gathered once, however many names are asked about", () => {
    const rule = { verbs: ["use"], apiGroups: ["*"], resources: ["*"], resourceNames: ["none"] };
    const roles = Array.from({ length: 2_000 }, (_, i) => clusterRole(`r${i}`, rule));
    const authorizer = authorizerOf(...roles, ...roles.map(({ metadata }) => bound(metadata.name, toAlice)));
    let looks = 0;
    const groups = new Proxy([] as string[], {
      get(target, key, self) {
        looks++;
        return Reflect.get(target, key, self);
      },
    });
    const user = { ...ALICE, groups };
    assert.ok(!allows(authorizer, { user, name: "p" }));
    const first = looks;
    for (let i = 0; i < 1_000; i++) allows(authorizer, { user, name: `p${i}` });
    assert.equal(looks, first);
  });
});
