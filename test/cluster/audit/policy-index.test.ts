import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { askPolicies, PolicyIndex } from "../../../src/cluster/audit/ask-policies.js";
import type { AuditedKind } from "../../../src/cluster/audit/audit-kinds.js";
import type { AuditedPolicy } from "../../../src/cluster/audit/audited-policy.js";
import { NamespaceLabels } from "../../../src/cluster/audit/namespaces.js";
import { AuditedObject } from "../../../src/cluster/audit/object-request.js";
import type { ClusterDocument } from "../../../src/config/from-cluster/index.js";
import { prepareSelector } from "../../../src/kinds/shared/match/label-selector.js";
import { PATIENT } from "../../kubernetes/client/support.js";
import { audit, configMap } from "./support.js";

const SEED = 20_261_129;
const POLICIES = 240;
const NAME = "kubernetes.io/metadata.name";
const NAMESPACES = ["a", "b", "c", "d"] as const;

/** Numbers below a bound, always the same. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}

/** Selectors in every form: by name, by labels, broken ones, none. */
function selector(pick: (below: number) => number): object {
  const name = NAMESPACES[pick(4)];
  const values = NAMESPACES.filter(() => pick(2) === 0);
  const forms: object[] = [
    {},
    { matchLabels: { [NAME]: name } },
    { matchLabels: { tier: ["gold", "iron"][pick(2)] } },
    { matchExpressions: [{ key: NAME, operator: "In", values: [...values, "nowhere"] }] },
    { matchExpressions: [{ key: NAME, operator: "NotIn", values: [...values, "nowhere"] }] },
    { matchExpressions: [{ key: "tier", operator: pick(2) === 0 ? "Exists" : "DoesNotExist" }] },
    { matchLabels: { tier: "gold" }, matchExpressions: [{ key: NAME, operator: "In", values: [name] }] },
    { matchExpressions: [{ key: "tier", operator: "Like", values: ["gold"] }] },
  ];
  return forms[pick(forms.length)] ?? {};
}

const document = (group: string, kind: string, name: string, spec: object, namespace = ""): ClusterDocument => ({
  key: `${group}/${kind}/${namespace}/${name}`,
  uid: `uid-${name}`,
  resourceVersion: "7",
  generation: 1,
  text: JSON.stringify({
    apiVersion: `${group}/v1`,
    kind,
    metadata: { name, uid: `uid-${name}`, ...(namespace !== "" && { namespace }) },
    spec,
  }),
});

function* documents(pick: (below: number) => number): Generator<ClusterDocument> {
  for (let i = 0; i < POLICIES; i++) {
    const name = `policy-${i}`;
    const resources = [["configmaps"], ["configmaps", "namespaces"], ["*"]][pick(3)];
    const constraints = {
      resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources }],
      ...(pick(4) > 0 && { namespaceSelector: selector(pick) }),
      ...(pick(4) === 0 && { objectSelector: { matchLabels: { app: ["x", "y"][pick(2)] } } }),
    };
    const validations = [{ expression: `object.metadata.name != 'x${pick(2)}'`, message: "no" }];
    if (i % 3 === 0) {
      const group = "admissionregistration.k8s.io";
      const conditions = pick(3) === 0 ? { paramKind: { apiVersion: "v1", kind: "ConfigMap" } } : {};
      const spec = { failurePolicy: "Fail", matchConstraints: constraints, validations, ...conditions };
      yield document(group, "ValidatingAdmissionPolicy", name, spec);
      for (let each = 0; each <= pick(2); each++) {
        const matchResources = pick(2) === 0 ? {} : { matchResources: { namespaceSelector: selector(pick) } };
        const binding = { policyName: name, validationActions: ["Deny"], ...matchResources };
        yield document(group, "ValidatingAdmissionPolicyBinding", `${name}-${each}`, binding);
      }
    } else {
      const within = i % 3 === 1 ? "" : (NAMESPACES[pick(4)] ?? "");
      const kind = within === "" ? "ValidatingPolicy" : "NamespacedValidatingPolicy";
      yield document("policies.kyverno.io", kind, name, { matchConstraints: constraints, validations }, within);
    }
  }
}

describe("an index of policies by Namespace", () => {
  test("finds what every policy finds, for selectors of every form", async (context) => {
    const pick = numbers(SEED);
    const begun = await audit(context);
    const put = (name: string, labels: Readonly<Record<string, string>>) =>
      begun.server.put("namespaces", { metadata: { name, uid: `uid-${name}`, labels: { [NAME]: name, ...labels } } });
    put("a", { tier: "gold" });
    put("b", { tier: "iron" });
    put("c", {});
    put("d", { tier: "gold" });
    begun.source.take({ version: 1, base: 0, put: [...documents(pick)], removed: [], sets: [] });
    const { policies: loaded, leftOut } = await begun.source.load();
    assert.ok(loaded.length > POLICIES / 3, JSON.stringify(leftOut.slice(0, 2)));
    // Every other one has a webhook and a namespace in place of its own criteria, as Kubewarden's.
    const policies = loaded.map((policy, i): AuditedPolicy => {
      const objects = prepareSelector(pick(4) === 0 ? selector(pick) : {});
      const webhook = { objects, namespaces: prepareSelector(selector(pick)) };
      const namespace = ["", "", ...NAMESPACES][pick(6)];
      return i % 2 === 0
        ? policy
        : Object.create(policy, { webhook: { value: webhook }, namespace: { value: namespace } });
    });
    const namespaces = await NamespaceLabels.read({ http: begun.cluster.http, signal: PATIENT });
    let [asked, found] = [0, 0];
    for (const [plural, kind, namespaced] of [
      ["configmaps", "ConfigMap", true],
      ["namespaces", "Namespace", false],
    ] as const) {
      const audited: AuditedKind = { group: "", version: "v1", plural, kind, namespaced, policies };
      const index = new PolicyIndex(audited, namespaces, POLICIES);
      for (const [i, namespace] of [...NAMESPACES, "unknown", ...NAMESPACES].entries()) {
        const item = namespaced
          ? { ...configMap(`x${i % 2}`, {}, namespace), labels: { app: "x" } }
          : { metadata: { name: namespace, uid: `uid-${namespace}`, labels: { [NAME]: namespace, app: "y" } } };
        const object = new AuditedObject(audited, item);
        const ask = async (some: readonly AuditedPolicy[]) =>
          (await askPolicies(some, object, namespaces, ASK)).map(({ policy, finding }) => [policy.served.id, finding]);
        const chosen = index.of(object.reference.namespace);
        const all = await ask(policies);
        assert.deepEqual(await ask(chosen), all, `${kind} in ${namespace}`);
        asked += chosen.length;
        found += all.length;
      }
    }
    // It says something only if policies find something, and some are left out.
    assert.ok(found > POLICIES);
    assert.ok(asked < policies.length * 15, `${asked} of ${policies.length * 18}`);
  });
});

const ASK = {
  policyTimeout: Number.POSITIVE_INFINITY,
  now: () => performance.now(),
  onDefect: (policy: string, error: unknown) => {
    throw new Error(policy, { cause: error });
  },
};
