import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { policyIdOf } from "../../../src/config/from-cluster/index.js";
import { dns1123SubdomainErrors } from "../../../src/kubernetes/name-formats.js";

const KUBEWARDEN = "policies.kubewarden.io";
const KYVERNO = "policies.kyverno.io";
const ADMISSION = "admissionregistration.k8s.io";

const NAMESPACED = [
  { group: KUBEWARDEN, kind: "AdmissionPolicy" },
  { group: KUBEWARDEN, kind: "AdmissionPolicyGroup" },
  { group: KYVERNO, kind: "NamespacedValidatingPolicy" },
];
const CLUSTER_WIDE = [
  { group: KUBEWARDEN, kind: "ClusterAdmissionPolicy" },
  { group: KUBEWARDEN, kind: "ClusterAdmissionPolicyGroup" },
  { group: KYVERNO, kind: "ValidatingPolicy" },
  { group: ADMISSION, kind: "ValidatingAdmissionPolicy" },
  { group: ADMISSION, kind: "MutatingAdmissionPolicy" },
];

/** All texts of up to three words with these between. */
function joined(words: readonly string[], between: readonly string[]): string[] {
  const texts = [...words];
  for (let begin = 0, round = 0; round < 2; round++) {
    const end = texts.length;
    for (const left of texts.slice(begin, end))
      for (const separator of between) for (const right of words) texts.push(`${left}${separator}${right}`);
    begin = end;
  }
  return texts;
}

const idOf = (kind: string, namespace: string, name: string): string | undefined => {
  const group = [...NAMESPACED, ...CLUSTER_WIDE].find((each) => each.kind === kind)?.group ?? "";
  return policyIdOf({ group, kind, namespace, name });
};

describe("ids of policies", () => {
  test("of different resources are different, whatever their owners call them", () => {
    const namespaces = joined(["a", "group", "long"], ["-", "--"]);
    const names = joined(["a", "group", "long"], ["-", "--", "."]);
    const long = ["x".repeat(253), `${"x".repeat(252)}y`, "group-".repeat(42).concat("x")];
    const found = new Map<string, string>();
    const take = (kind: string, namespace: string, name: string) => {
      const id = idOf(kind, namespace, name) ?? assert.fail();
      const resource = `${kind} ${namespace}/${name}`;
      assert.equal(found.get(id), undefined, `${id} of ${resource}`);
      found.set(id, resource);
      // Part of the path that the API server asks a Service at, and of its webhook's name.
      assert.deepEqual(dns1123SubdomainErrors(`${id}.policy-server.admission`), [], resource);
    };
    for (const { kind } of NAMESPACED)
      for (const namespace of [...namespaces, "n".repeat(63)])
        for (const name of [...names, ...long]) take(kind, namespace, name);
    for (const { kind } of CLUSTER_WIDE) for (const name of [...names, ...long]) take(kind, "", name);
    assert.ok(found.size > 10_000);
  });

  const KEPT: readonly (readonly [kind: string, namespace: string, name: string, id: string])[] = [
    ["AdmissionPolicy", "team", "a-guard", "namespaced-team-a-guard"],
    ["AdmissionPolicyGroup", "team", "a-guard", "namespaced-group-team-a-guard"],
    ["NamespacedValidatingPolicy", "team", "a-guard", "namespacedvalidatingpolicy-team-a-guard"],
    ["ClusterAdmissionPolicy", "", "no-latest.v1", "clusterwide-no-latest.v1"],
    ["ClusterAdmissionPolicyGroup", "", "group-x", "clusterwide-group-group-x"],
  ];
  const OWN: readonly (readonly [kind: string, namespace: string, name: string, id: string])[] = [
    ["AdmissionPolicy", "team-a", "guard", "namespaced.team-a.guard"],
    ["AdmissionPolicyGroup", "team-a", "guard", "namespaced-group.team-a.guard"],
    ["NamespacedValidatingPolicy", "team-a", "guard", "namespacedvalidatingpolicy.team-a.guard"],
    ["AdmissionPolicy", "team", "guard.v1", "namespaced.team.guard.v1"],
    // It would be that of an AdmissionPolicyGroup `guard` in `team`.
    ["AdmissionPolicy", "group", "team-guard", "namespaced.group.team-guard"],
    ["ClusterAdmissionPolicy", "", "group-x", "clusterwide.group-x"],
  ];
  test("are Kubewarden's where these can be read in one way only", () => {
    for (const [kind, namespace, name, id] of [...KEPT, ...OWN]) assert.equal(idOf(kind, namespace, name), id);
  });
});
