import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { AskedPolicy } from "../../../src/cluster/webhooks/demand.js";
import { UNASKED } from "../../../src/cluster/webhooks/exclusions.js";
import { WebhookDeriver } from "../../../src/cluster/webhooks/from-documents.js";
import { idOf } from "../../../src/cluster/webhooks/part.js";
import { ruleAdvice, type ServerFacts } from "../../../src/cluster/webhooks/unasked.js";
import type { ClusterDocument } from "../../../src/config/from-cluster/cluster-document.js";
import type { JsonObject } from "../../../src/kubernetes/object.js";
import { admissionPolicy, binding, kubewarden, kyverno } from "./documents.js";

const rule = (group: string | string[], resource: string | string[], more: JsonObject = {}): JsonObject => ({
  ...{ apiVersions: ["*"], operations: ["*"], ...more },
  ...{ apiGroups: [group].flat(), resources: [resource].flat() },
});

function askedOf(...documents: ClusterDocument[]): AskedPolicy {
  const deriver = new WebhookDeriver({ ownNamespace: "own", idOf, enforceAdmissionPolicies: true });
  deriver.derive(documents);
  return deriver.asked[0] as AskedPolicy;
}

const ofRules = (resourceRules: JsonObject[], spec: JsonObject = {}): AskedPolicy =>
  askedOf(kyverno("p", { matchConstraints: { resourceRules }, ...spec }));
const advice = (rules: JsonObject[], server: ServerFacts = {}) => ruleAdvice(ofRules(rules), server);
/** `never`, `partly` or `fine`. */
const verdict = (rules: JsonObject[], server: ServerFacts = {}): string => {
  const told = advice(rules, server);
  if (told === undefined) return "fine";
  return told.isNeverAsked ? "never" : "partly";
};
const NOWHERE: ServerFacts = { isElsewhere: () => false };

describe("a policy is never asked", () => {
  test("by a wildcard over nothing but what wildcards leave out", () => {
    for (const group of [
      "coordination.k8s.io",
      "events.k8s.io",
      "openreports.io",
      "wgpolicyk8s.io",
      "policies.kubewarden.io",
      "policy.cert-manager.io",
      "authentication.k8s.io",
    ])
      for (const word of ["*", "*/*"]) assert.equal(verdict([rule(group, word)]), "never", group);
    for (const group of [
      "",
      "*",
      "apps",
      "storage.k8s.io",
      "certificates.k8s.io",
      "policies.kyverno.io",
      "kyverno.io",
      "example.com",
    ])
      assert.equal(verdict([rule(group, "*")]), "fine", group);
  });

  test("by a resource of any group, where no other group has one of its name", () => {
    for (const { resource } of UNASKED) {
      assert.equal(verdict([rule("*", resource)], NOWHERE), "never", resource);
      assert.equal(verdict([rule("*", resource)], { isElsewhere: () => true }), "partly", resource);
      assert.equal(verdict([rule("*", resource)]), "partly", resource);
    }
    assert.equal(verdict([rule("*", "leases/*")], NOWHERE), "never");
    assert.equal(verdict([rule("*", "nodes/*")], NOWHERE), "partly");
    assert.equal(verdict([rule("*", "nodes/proxy")], NOWHERE), "fine");
    assert.equal(verdict([rule("*", "pods")], NOWHERE), "fine");
  });

  test("about what Kubernetes asks no webhook about, by its version", () => {
    for (const { group, resource, kind } of UNASKED) {
      if (kind === undefined) continue;
      for (const release of [undefined, "1.30", "1.36", "1.37", "1.38"]) {
        const isSince = Number(release?.slice(2) ?? 0) >= 37;
        const expected: string = kind === "never" || isSince ? "never" : "partly";
        assert.equal(verdict([rule(group, resource)], { release }), expected, `${resource} ${release}`);
      }
    }
    const all = rule(["authentication.k8s.io", "authorization.k8s.io"], ["tokenreviews", "subjectaccessreviews"]);
    assert.equal(verdict([all], { release: "1.37" }), "never");
    assert.equal(verdict([all], { release: "1.36" }), "partly");
    assert.match(advice([all], { release: "1.37" })?.text ?? "", /^it is never asked: tokenreviews\.authentication/);
  });

  test("about reviews, where it may ask about rights itself", () => {
    const rules = [rule("authorization.k8s.io", "subjectaccessreviews")];
    const asking = ofRules(rules, { variables: [{ name: "v", expression: "authorizer.path('/x')" }] });
    assert.match(ruleAdvice(asking, { release: "1.36" })?.text ?? "", /never asked: .*would ask the policy again/);
    assert.equal(ruleAdvice(askedOf(kubewarden("p", { rules })), {})?.isNeverAsked, true);
  });

  test("in a namespace that is exempt, and about what is in no namespace", () => {
    const of = (namespace: string, rules = [rule("", "pods")]) =>
      ruleAdvice(askedOf(kubewarden("p", { rules }, namespace)), { ownNamespace: "own", exemptNamespaces: ["a-*"] });
    for (const namespace of ["kube-system", "own", "a-b"]) assert.equal(of(namespace)?.isNeverAsked, true, namespace);
    assert.equal(of("team"), undefined);
    assert.equal(of("team", [rule("", "persistentvolumes")])?.isNeverAsked, true);
    assert.equal(of("team", [rule("example.com", "things", { scope: "Cluster" })])?.isNeverAsked, true);
    assert.equal(of("team", [rule("", "namespaces")]), undefined);
  });

  test("where it selects only namespaces that are exempt", () => {
    const label = "kubernetes.io/metadata.name";
    const of = (namespaceSelector: JsonObject, ...rules: JsonObject[]): string => {
      const policy = ofRules([], { matchConstraints: { namespaceSelector, resourceRules: rules } });
      const told = ruleAdvice(policy, { ownNamespace: "own", exemptNamespaces: ["*-net"] });
      return told === undefined ? "fine" : told.isNeverAsked ? "never" : "partly";
    };
    const among = (...values: string[]): JsonObject => ({ matchExpressions: [{ key: label, operator: "In", values }] });
    const pods = rule("", "pods");
    for (const selector of [{ matchLabels: { [label]: "kube-system" } }, among("own", "my-net", "kube-system")]) {
      assert.equal(of(selector, pods), "never");
      assert.equal(of(selector, rule("", "namespaces")), "never");
      assert.equal(of(selector, rule("example.com", "*", { scope: "Namespaced" })), "never");
      // Selectors of namespaces do not apply to objects outside of them.
      assert.equal(of(selector, pods, rule("", "persistentvolumes")), "partly");
      assert.equal(of(selector, rule("example.com", "things")), "fine");
    }
    for (const selector of [
      among("kube-system", "team"),
      { matchLabels: { team: "kube-system" } },
      { matchExpressions: [{ key: label, operator: "NotIn", values: ["kube-system"] }] },
    ])
      assert.equal(of(selector, pods), "fine");
    const native = { matchConstraints: { namespaceSelector: among("kube-system"), resourceRules: [pods] } };
    const byItself = { evaluatesAdmissionPolicies: true };
    assert.equal(ruleAdvice(askedOf(admissionPolicy("p", native), binding("p")), byItself), undefined);
  });

  test("where a rule has another scope than its resource", () => {
    assert.equal(verdict([rule("", "pods", { scope: "Cluster" })]), "never");
    assert.equal(verdict([rule("", "persistentvolumes", { scope: "Namespaced" })]), "never");
    assert.equal(verdict([rule("", "pods", { scope: "Namespaced" })]), "fine");
  });
});

test("where only some rules are never asked about, or one names what the cluster needs, it is a warning", () => {
  const some = advice([rule("", "pods"), rule("events.k8s.io", "*")]);
  assert.equal(some?.isNeverAsked, false);
  assert.match(some?.text ?? "", /^some rules are never asked about: \*\.events\.k8s\.io: a wildcard does not mean it/);
  for (const { group, resource, kind, stops } of UNASKED) {
    if (kind !== undefined) continue;
    const told = advice([rule(group, resource)]);
    assert.deepEqual([told?.isNeverAsked, told?.isDangerous], [false, true], resource);
    assert.ok(told?.text.includes(resource) && told.text.endsWith(`stops ${stops}`), told?.text);
  }
  assert.equal(advice([rule("*", "*/*")]), undefined);
  // The webhook asks about a name beside a star in one list, too.
  for (const named of [rule(["", "*"], "nodes"), rule("", ["*", "nodes"])])
    assert.match(
      advice([named], NOWHERE)?.text ?? "",
      /names nodes: a denial, or no replica that answers, stops Nodes/,
    );
  const ignoring = ofRules([rule("", "nodes")], { failurePolicy: "Ignore" });
  assert.match(ruleAdvice(ignoring, {})?.text ?? "", /^names nodes: a denial stops Nodes/);
});

test("ValidatingAdmissionPolicies are told only of what Kubernetes leaves out, where the API server evaluates them", () => {
  const of = (resource: JsonObject, server: ServerFacts) =>
    ruleAdvice(
      askedOf(admissionPolicy("p", { matchConstraints: { resourceRules: [resource] } }), binding("p")),
      server,
    );
  const byItself = { evaluatesAdmissionPolicies: true };
  assert.equal(of(rule("coordination.k8s.io", "*"), byItself), undefined);
  assert.equal(of(rule("coordination.k8s.io", "*"), {})?.isNeverAsked, true);
  assert.equal(of(rule("events.k8s.io", "*"), {}), undefined);
  assert.equal(of(rule("authentication.k8s.io", "tokenreviews"), { ...byItself, release: "1.30" })?.isNeverAsked, true);
});
