import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { formatProblem } from "../../../src/config/documents/problem.js";
import { parseResources } from "../../../src/config/documents/source-document.js";
import { prepareBinding, requesterOf, useOf } from "../../../src/kinds/certificate-request-policy/binding.js";
import type { CertificateRequest } from "../../../src/kinds/certificate-request-policy/engine/certificate-request.js";
import { LoadError } from "../../../src/kinds/load-error.js";
import type { Authorizer, AuthorizerAttributes, AuthorizerDecision } from "../../../src/world/authorizer/authorizer.js";
import { NO_OPINION } from "../../../src/world/authorizer/authorizer.js";
import { outerWorldFor } from "../../../src/world/cluster.js";
import { RequestWorld } from "../../../src/world/request-world.js";
import { LookupFailure } from "../../../src/world/resources/resource-source.js";
import { worldOf } from "../../../src/world/world.js";

const REQUEST: CertificateRequest = {
  name: "r",
  namespace: "n",
  request: Buffer.from(""),
  issuerRef: { name: "ca", kind: "", group: "" },
  duration: undefined,
  isCA: false,
  usages: [],
  username: "alice",
  groups: ["dev"],
  uid: "u",
  extra: { k: ["v"] },
  decided: undefined,
};
const ROLES = `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r}, rules: [{verbs: [use], apiGroups: ["*"], resources: ["*"], resourceNames: [p]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: b}, roleRef: {kind: ClusterRole, name: r}, subjects: [{kind: Group, name: dev}]}
---
{apiVersion: v1, kind: Namespace, metadata: {name: n}}
`;
const REFUSING: Authorizer = { authorize: () => assert.fail("nobody else is asked") };

const documentsOf = (text: string) => parseResources(text, "crp.yaml").documents;
const [POLICY] = documentsOf("{kind: CertificateRequestPolicy}");
assert.ok(POLICY);

function prepared(settings: Parameters<typeof prepareBinding>[0], text = "") {
  assert.ok(POLICY);
  const { binding, problems } = prepareBinding(settings, documentsOf(text), POLICY);
  return { binding, problems: problems.map(formatProblem) };
}

/** The policies of these that the requester may use. */
function mayUse(authorizer: Authorizer, names = ["p", "q"]): string[] {
  const user = requesterOf(REQUEST);
  return names.filter((name) => {
    const decision = authorizer.authorize(useOf(user, "n", name));
    assert.ok(!(decision instanceof Promise) && !(decision instanceof LookupFailure));
    return decision.decision === "allow";
  });
}

describe("who says who may use a policy", () => {
  test("are Roles and bindings where there are any among the documents", () => {
    for (const settings of [{}, { binding: "rbac" }] as const) {
      const { binding, problems } = prepared(settings, ROLES);
      assert.deepEqual([binding.mode, problems, binding.needs.asks], ["rbac", [], false]);
      assert.deepEqual(mayUse(binding.authorizer({ authorizer: REFUSING })), ["p"]);
    }
  });

  test("is the cluster where there are none", async () => {
    const asked: AuthorizerAttributes[] = [];
    const cluster: Authorizer = {
      authorize: async (attributes) => {
        asked.push(attributes);
        return { decision: "allow", reason: "" };
      },
    };
    for (const settings of [{}, { binding: "sar" }] as const) {
      const { binding, problems } = prepared(settings, settings.binding === "sar" ? ROLES : "");
      assert.deepEqual(
        [binding.mode, problems, binding.needs.asks, binding.needs.requires.length],
        ["sar", [], true, 1],
      );
      const decision = await binding
        .authorizer({ authorizer: cluster })
        .authorize(useOf(requesterOf(REQUEST), "n", "p"));
      assert.deepEqual(decision, { decision: "allow", reason: "" });
      const user = { name: "alice", uid: "u", groups: ["dev"], extra: { k: ["v"] } };
      const what = { verb: "use", group: "policy.cert-manager.io", resource: "certificaterequestpolicies" };
      const { user: who, verb, group, resource, namespace, name } = asked.pop()!;
      assert.deepEqual([who, { verb, group, resource }, namespace, name], [user, what, "n", "p"]);
    }
  });

  test("is a cluster that has to be there: without one the entry is not loaded, and the error names the other ways", () => {
    const { binding } = prepared({});
    const missing = outerWorldFor(binding.needs, undefined, true, () => 0);
    for (const world of [
      { authorizer: NO_OPINION },
      missing,
      outerWorldFor(binding.needs, undefined, false, () => 0),
    ]) {
      assert.throws(
        () => binding.authorizer(world),
        (error) => {
          assert.ok(error instanceof LoadError);
          assert.match(error.message, /^who may use a policy is asked of a cluster, and there is none/);
          for (const mode of ["rbac", "map", "assume-bound"]) assert.ok(error.message.includes(`binding: ${mode}`));
          assert.deepEqual(error.problems.map(formatProblem), [`crp.yaml:1:1: ${error.message}`]);
          return true;
        },
      );
    }
  });

  test("is never taken to have said no where an access review has failed", async () => {
    const { binding } = prepared({});
    const failed: AuthorizerDecision = { decision: "noOpinion", reason: "", error: "webhook down", detail: "10.1.2.3" };
    const decide = (answer: AuthorizerDecision | LookupFailure) =>
      binding
        .authorizer({ authorizer: { authorize: async () => answer } })
        .authorize(useOf(requesterOf(REQUEST), "n", "p"));
    assert.deepEqual(await decide(failed), new LookupFailure("webhook down", "10.1.2.3"));
    assert.deepEqual(await decide(new LookupFailure("gone")), new LookupFailure("gone"));
    assert.deepEqual(await decide({ ...failed, decision: "allow" }), { ...failed, decision: "allow" });
    assert.deepEqual(await decide({ decision: "deny", reason: "r" }), { decision: "deny", reason: "r" });
    // The request that asked has failed, whatever else it finds.
    const authorizer = binding.authorizer({ authorizer: { authorize: () => failed } });
    const world = new RequestWorld({ ...worldOf([], { authorizer, now: () => 0 }), authorizer });
    world.authorize(useOf(requesterOf(REQUEST), "n", "p"));
    assert.equal(world.failure, "webhook down");
  });

  test("may be a list", () => {
    const { binding, problems } = prepared({ binding: "map", bound: [{ groups: ["dev"], policies: ["q*"] }] }, ROLES);
    assert.deepEqual([binding.mode, problems, binding.needs.asks], ["map", [], false]);
    assert.deepEqual(mayUse(binding.authorizer({ authorizer: REFUSING })), ["q"]);
  });

  test("may be nobody, which is warned of", () => {
    const { binding, problems } = prepared({ binding: "assume-bound" }, ROLES);
    assert.deepEqual([binding.mode, binding.needs.asks], ["assume-bound", false]);
    assert.deepEqual(problems, [
      "crp.yaml:1:1: warning: every policy counts as bound: each requester may use all of them (binding: assume-bound)",
    ]);
    assert.deepEqual(mayUse(binding.authorizer({ authorizer: REFUSING })), ["p", "q"]);
  });

  test("are objects without a mistake", () => {
    const [role = "", binding = ""] = ROLES.split("---\n");
    const wrong = `${role.replace("resourceNames", "resourceName")}---\n${binding}---\n${binding}`;
    assert.deepEqual(prepared({}, wrong).problems, [
      'crp.yaml:5:87: metadata.name: duplicate name "b" of a ClusterRoleBinding (previously seen in "crp.yaml")',
      'crp.yaml:1:157: rules[0].resourceName: unknown field (did you mean "resourceNames"?)',
    ]);
    assert.deepEqual(prepared({}, role.replace("ClusterRole,", "Role,")).problems, [
      "crp.yaml:1:66: metadata.namespace: Required value",
    ]);
  });

  test("are warned of where they give rights to everything although a list looks as if to nothing", () => {
    for (const empty of ["[]", "null"]) {
      assert.deepEqual(prepared({}, ROLES.replace("[p]", empty)).problems, [
        "crp.yaml:1:158: warning: rules[0].resourceNames: is empty: the rule holds for every name",
      ]);
    }
    assert.deepEqual(prepared({}, ROLES.replace(", resourceNames: [p]", "")).problems, []);
  });

  test("are warned of where they give no rights although they look it", () => {
    const [, binding = ""] = ROLES.split("---\n");
    const aggregated =
      "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: a}, aggregationRule: {}}\n";
    assert.deepEqual(prepared({}, `${binding}---\n${aggregated}`).problems, [
      'crp.yaml:1:126: warning: roleRef.name: no ClusterRole "r" is among the documents: the binding gives no rights',
      "crp.yaml:3:101: warning: aggregationRule: a cluster fills in the rules of an aggregated ClusterRole: here it has those that are written, none",
    ]);
    assert.deepEqual(prepared({ binding: "rbac" }).problems, [
      "crp.yaml:1:1: warning: only the group system:masters may use a policy: no Role, ClusterRole, RoleBinding or ClusterRoleBinding is among the documents (binding: rbac)",
    ]);
  });
});
