import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, test } from "node:test";
import type { DerivedWebhook } from "../../../src/cluster/webhooks/derived-webhook.js";
import { WebhookDeriver } from "../../../src/cluster/webhooks/from-documents.js";
import { idOf } from "../../../src/cluster/webhooks/part.js";
import type { ClusterDocument } from "../../../src/config/from-cluster/cluster-document.js";
import { admissionPolicy, binding, document, kubewarden, kyverno } from "./documents.js";

const derive = (documents: readonly ClusterDocument[], enforceAdmissionPolicies = true) =>
  new WebhookDeriver({
    ownNamespace: "policy-server",
    enforceAdmissionPolicies,
    // Names of tests are ids.
    idOf: (key) => (key.includes("Binding") || key.includes("Exception") ? undefined : key.split("/").at(-1)),
  }).derive(documents);

function one(...documents: readonly ClusterDocument[]): DerivedWebhook {
  const { webhooks } = derive(documents);
  assert.equal(webhooks.length, 1, JSON.stringify(webhooks));
  return webhooks[0] as DerivedWebhook;
}

const ELSEWHERE = {
  matchExpressions: [
    { key: "kubernetes.io/metadata.name", operator: "NotIn", values: ["kube-system", "policy-server"] },
  ],
};
const CONDITION = { name: "c", expression: "request.operation != 'DELETE'" };

describe("webhooks of Kubewarden's policies", () => {
  test("say what the policy says, and else the defaults; not the server's own namespace", () => {
    assert.deepEqual(one(kubewarden("p")), {
      type: "validating",
      name: "p.kubewarden.admission",
      path: "/validate/p",
      rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"], scope: "*" }],
      namespaceSelector: ELSEWHERE,
      objectSelector: {},
      matchConditions: [],
      matchPolicy: "Equivalent",
      failurePolicy: "Fail",
      sideEffects: "None",
      timeoutSeconds: 10,
      members: ["p"],
    });
    const { rules: _, ...said } = one(
      kubewarden("p", {
        mutating: true,
        failurePolicy: "Ignore",
        matchPolicy: "Exact",
        sideEffects: "NoneOnDryRun",
        timeoutSeconds: 3,
        objectSelector: { matchLabels: { a: "b" } },
        namespaceSelector: { matchLabels: { team: "x" } },
        // The server never looks at them: they are copied whatever they say.
        matchConditions: [{ name: "any", expression: "anything(" }],
        allowInsideAdmissionControllerNamespace: true,
      }),
    );
    assert.deepEqual(said, {
      type: "mutating",
      name: "p.kubewarden.admission",
      path: "/validate/p",
      namespaceSelector: {
        matchLabels: { team: "x" },
        matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "NotIn", values: ["kube-system"] }],
      },
      objectSelector: { matchLabels: { a: "b" } },
      matchConditions: [{ name: "any", expression: "anything(" }],
      matchPolicy: "Exact",
      failurePolicy: "Ignore",
      sideEffects: "NoneOnDryRun",
      timeoutSeconds: 3,
      members: ["p"],
    });
  });

  test("of a namespace are about that namespace, and nothing cluster-scoped", () => {
    const { namespaceSelector, matchConditions } = one(kubewarden("p", {}, "team"));
    assert.deepEqual(namespaceSelector, {
      matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "In", values: ["team"] }],
    });
    assert.deepEqual(
      matchConditions.map(({ expression }) => expression),
      ['has(request.namespace) && request.namespace == "team"'],
    );
  });

  test("never share, and mutating ones stand in order of name", () => {
    const { webhooks, sets } = derive(["c", "a", "b"].map((name) => kubewarden(name, { mutating: true })));
    assert.deepEqual(
      webhooks.map(({ name, type }) => [name, type]),
      ["a", "b", "c"].map((name) => [`${name}.kubewarden.admission`, "mutating"]),
    );
    assert.deepEqual(sets, []);
  });

  test("of the server's own namespace, or without rules, there are none, and it is said", () => {
    const { webhooks, problems } = derive([
      kubewarden("own", {}, "policy-server"),
      kubewarden("system", {}, "kube-system"),
      kubewarden("empty", { rules: [] }),
    ]);
    assert.deepEqual(webhooks, []);
    assert.deepEqual(
      problems.map(({ id }) => id),
      ["own", "system", "empty"],
    );
  });
});

describe("webhooks of Kyverno's policies", () => {
  test("ask about the controllers of pods, too", () => {
    const pods = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] };
    const { rules } = one(kyverno("p", { matchConstraints: { resourceRules: [pods] } }));
    assert.deepEqual(
      rules.flatMap(({ apiGroups, resources }) => resources.map((each) => `${apiGroups[0]}/${each}`)).sort(),
      [
        "/pods",
        "apps/daemonsets",
        "apps/deployments",
        "apps/replicasets",
        "apps/statefulsets",
        "batch/cronjobs",
        "batch/jobs",
      ],
    );
    const none = { podControllers: { controllers: [] } };
    assert.equal(one(kyverno("p", { matchConstraints: { resourceRules: [pods] }, autogen: none })).rules.length, 1);
  });

  test("have the policy's failure policy, match policy, time-out and conditions", () => {
    const webhook = one(
      kyverno("p", {
        failurePolicy: "Ignore",
        webhookConfiguration: { timeoutSeconds: 7 },
        matchConditions: [CONDITION],
      }),
    );
    assert.equal(webhook.failurePolicy, "Ignore");
    assert.equal(webhook.timeoutSeconds, 7);
    assert.equal(webhook.sideEffects, "NoneOnDryRun");
    assert.deepEqual(webhook.matchConditions, [CONDITION]);
  });

  test("that admission does not ask have none", () => {
    for (const evaluation of [
      { mode: "JSON" },
      { mode: "HTTP" },
      { mode: "Envoy" },
      { admission: { enabled: false } },
    ]) {
      assert.deepEqual(derive([kyverno("p", { evaluation })]).webhooks, []);
    }
  });

  test("leave conditions to the policy where their failing would refuse what the policy would let pass", () => {
    const kept = (spec: object, ...more: ClusterDocument[]) =>
      one(kyverno("p", { matchConditions: [CONDITION], ...spec }), ...more).matchConditions.length;
    assert.equal(kept({}), 1);
    assert.equal(kept({ validationActions: ["Audit"] }), 0);
    const exception = document({
      apiVersion: "policies.kyverno.io/v1",
      kind: "PolicyException",
      metadata: { name: "e", namespace: "n" },
      spec: { policyRefs: [{ name: "p", kind: "ValidatingPolicy" }] },
    });
    assert.equal(kept({}, exception), 0);
    assert.equal(kept({ failurePolicy: "Ignore" }, exception), 1);
  });

  test("leave to the policy what only its own CEL knows", () => {
    for (const expression of [
      "namespaceObject.metadata.name == 'x'",
      "variables.x",
      "resource.Get('v1', 'configmaps', 'n', 'c').data.x == 'y'",
      "request.object.kind == 'Service'",
      "object.kind",
      "1 +",
    ]) {
      assert.deepEqual(
        one(kyverno("p", { matchConditions: [CONDITION, { name: "d", expression }] })).matchConditions,
        [],
      );
    }
    const many = Array.from({ length: 64 }, (_, i) => ({ name: `c${i}`, expression: "true" }));
    assert.deepEqual(one(kyverno("p", { matchConditions: many })).matchConditions, []);
  });
});

describe("webhooks of ValidatingAdmissionPolicies", () => {
  test("are there when that is asked for, for policies that something binds", () => {
    const documents = [admissionPolicy("p"), binding("p"), admissionPolicy("unbound")];
    assert.deepEqual(derive(documents, false).webhooks, []);
    assert.deepEqual(one(...documents).members, ["p"]);
  });

  test("have the selectors of the only binding, too", () => {
    const spec = { matchConstraints: { objectSelector: { matchLabels: { a: "1" } }, resourceRules: [{}] } };
    const rules = [{ apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"] }];
    const policy = admissionPolicy("p", { matchConstraints: { ...spec.matchConstraints, resourceRules: rules } });
    const bound = (name: string) =>
      binding("p", { matchResources: { objectSelector: { matchLabels: { a: "2", b: "3" } } } }, name);
    assert.deepEqual(one(policy, bound("x")).objectSelector, {
      matchLabels: { a: "1", b: "3" },
      matchExpressions: [{ key: "a", operator: "In", values: ["2"] }],
    });
    assert.deepEqual(one(policy, bound("x"), bound("y")).objectSelector, { matchLabels: { a: "1" } });
  });
});

describe("webhooks that are shared", () => {
  test("ask all policies that want the same, by the hash of their ids", () => {
    const documents = [kyverno("b"), kyverno("a"), kyverno("other", { failurePolicy: "Ignore" })];
    const { webhooks, sets } = derive(documents);
    const hash = createHash("sha256").update("a\nb").digest("hex").slice(0, 16);
    assert.deepEqual(sets, [
      { hash, members: ["a", "b"] },
      { hash: "everybody", members: ["a", "b", "other"] },
    ]);
    assert.deepEqual(
      webhooks.map(({ name, path, members }) => [name, path, members]),
      [
        ["other.policy-server.admission", "/validate/other", ["other"]],
        [`set-${hash}.policy-server.admission`, `/validate/set/${hash}`, ["a", "b"]],
      ],
    );
    assert.deepEqual(derive([...documents].reverse()), derive(documents));
  });

  test("also when the same is written in other words", () => {
    const rules = (resources: string[], operations: string[]) => [
      { apiGroups: [""], apiVersions: ["v1"], operations, resources },
    ];
    const a = kyverno("a", {
      matchConstraints: { resourceRules: rules(["services", "configmaps"], ["UPDATE", "CREATE"]) },
    });
    const b = kyverno("b", {
      failurePolicy: "Fail",
      matchConstraints: {
        matchPolicy: "Equivalent",
        namespaceSelector: {},
        resourceRules: rules(["configmaps", "services", "services"], ["CREATE", "UPDATE"]).map((each) => ({
          ...each,
          scope: "*",
        })),
      },
    });
    assert.deepEqual(one(a, b).members, ["a", "b"]);
  });
});

describe("what no webhook asks about", () => {
  test("leases and reports are left out where rules could mean them", () => {
    const rules = [{ apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*/*"] }];
    const [condition] = one(kubewarden("p", { rules })).matchConditions;
    assert.match(condition?.expression ?? "", /coordination\.k8s\.io\/leases/);
    assert.match(condition?.expression ?? "", /openreports\.io\/reports/);
    const conditions = Array.from({ length: 64 }, (_, i) => ({ name: `c${i}`, expression: "true" }));
    const { webhooks } = derive([kubewarden("p", { rules, matchConditions: conditions })]);
    assert.equal(webhooks[0]?.matchConditions.length, 64);
    assert.equal(webhooks[0]?.matchConditions[0]?.expression, `(${condition?.expression}) && (true\n)`);
  });
});

describe("names", () => {
  test("are ones that the API server takes, also of ids that are too long for one", () => {
    const { name } = one(kubewarden(`namespaced-${"n".repeat(300)}`));
    assert.ok(name.length <= 253);
    assert.match(name, /^[a-z0-9.-]+-[0-9a-f]{16}\.kubewarden\.admission$/);
  });
});

describe("a deriver that is kept", () => {
  const KEPT = { ownNamespace: "own", enforceAdmissionPolicies: true, idOf: (key: string) => key.split("/").at(-1) };
  const changed = (before: ClusterDocument, after: ClusterDocument, resourceVersion = "2"): ClusterDocument => ({
    ...after,
    key: before.key,
    resourceVersion,
  });

  test("gives what one gives that sees everything for the first time", () => {
    const deriver = new WebhookDeriver(KEPT);
    const exception = document({
      apiVersion: "policies.kyverno.io/v1",
      kind: "PolicyException",
      metadata: { name: "e", namespace: "n" },
      spec: { policyRefs: [{ name: "k", kind: "ValidatingPolicy" }] },
    });
    const k = kyverno("k", { matchConditions: [CONDITION] });
    const p = kubewarden("p");
    const v = admissionPolicy("v");
    const narrow = { matchResources: { objectSelector: { matchLabels: { a: "b" } } } };
    const steps = [
      [k, p, v],
      [k, p, v, binding("v")],
      [k, p, v, changed(binding("v"), binding("v", narrow))],
      [k, changed(p, kubewarden("p", { timeoutSeconds: 3 })), v, exception],
      [v, k],
      [],
    ];
    for (const documents of steps) {
      assert.deepEqual(deriver.derive(documents), new WebhookDeriver(KEPT).derive(documents));
    }
  });

  test("reads only what has changed", () => {
    const deriver = new WebhookDeriver(KEPT);
    const p = kubewarden("p");
    deriver.derive([p]);
    const unread = {
      ...p,
      get text(): string {
        throw new Error("read again");
      },
    };
    assert.equal(deriver.derive([unread]).webhooks.length, 1);
  });

  test("reads nothing of the same documents, unless others of them are refused", () => {
    let asked = 0;
    const deriver = new WebhookDeriver({
      ...KEPT,
      idOf: (key) => {
        asked += 1;
        return KEPT.idOf(key);
      },
    });
    const documents = [kubewarden("p"), kyverno("k")];
    const { webhooks } = deriver.derive(documents);
    const before = asked;
    assert.equal(deriver.derive([...documents]).webhooks, webhooks);
    assert.equal(asked, before);
    assert.equal(deriver.derive(documents, new Set([kyverno("k").key])).webhooks.length, 1);
    assert.deepEqual(deriver.derive(documents), new WebhookDeriver(KEPT).derive(documents));
  });
});

describe("policies whose names put together are the same", () => {
  test("are each asked, in whatever order they came", () => {
    const documents = [
      kubewarden("a-guard", {}, "team"),
      kubewarden("guard", {}, "team-a"),
      kyverno("a-guard", {}, "team"),
      kyverno("guard", {}, "team-a"),
      kubewarden("x-y", {}, "group"),
      document({
        apiVersion: "policies.kubewarden.io/v1",
        kind: "AdmissionPolicyGroup",
        metadata: { name: "y", namespace: "x" },
        spec: { rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }] },
      }),
    ];
    const { webhooks, problems } = new WebhookDeriver({ ownNamespace: "policy-server", idOf }).derive(documents);
    assert.deepEqual(problems, []);
    const asked = webhooks.map(({ path, namespaceSelector: { matchExpressions = [] } }) => [
      path.slice("/validate/".length),
      matchExpressions[0]?.values?.join(),
    ]);
    assert.deepEqual(asked, [
      ["namespaced-group-x-y", "x"],
      ["namespaced-team-a-guard", "team"],
      ["namespaced.group.x-y", "group"],
      ["namespaced.team-a.guard", "team-a"],
      ["namespacedvalidatingpolicy-team-a-guard", "team"],
      ["namespacedvalidatingpolicy.team-a.guard", "team-a"],
    ]);
    assert.equal(new Set(webhooks.map(({ name }) => name)).size, documents.length);
  });
});

test("a policy that is not served is not asked: something else has its id", () => {
  const deriver = new WebhookDeriver({ ownNamespace: "policy-server", idOf: (key) => key.split("/").at(-1) });
  const [k, other] = [kyverno("k"), kubewarden("p", {}, "team")];
  const alone = deriver.derive([k]);
  assert.deepEqual(deriver.derive([k, other], new Set([other.key])), alone);
  assert.deepEqual(deriver.derive([k, kyverno("l")], new Set(["policies.kyverno.io/ValidatingPolicy//l"])), alone);
  assert.equal(deriver.derive([k, other]).webhooks.length, 2);
});

describe("webhooks of Kyverno's policies of the old language", () => {
  const old = (rules: readonly object[], more: object = {}, namespace?: string) =>
    document({
      apiVersion: "kyverno.io/v1",
      kind: namespace === undefined ? "ClusterPolicy" : "Policy",
      metadata: { name: "p", ...(namespace !== undefined && { namespace }) },
      spec: { rules, ...more },
    });
  const rule = (kind: string, body: object = { validate: { pattern: { spec: { a: "b" } } } }) => ({
    name: kind.toLowerCase(),
    match: { any: [{ resources: { kinds: [kind] } }] },
    ...body,
  });
  const asked = ({ rules }: DerivedWebhook) => rules.flatMap(({ resources }) => resources).sort();

  test("ask about all that its rules match, with controllers of Pods", () => {
    const webhook = one(old([rule("ConfigMap"), rule("Service")], { webhookConfiguration: { timeoutSeconds: 4 } }));
    assert.deepEqual(asked(webhook), ["configmaps", "services"]);
    assert.equal(webhook.timeoutSeconds, 4);
    assert.ok(asked(one(old([rule("Pod")]))).includes("cronjobs"));
    assert.equal(one(old([rule("ConfigMap")], { failurePolicy: "Ignore" })).failurePolicy, "Ignore");
  });

  test("ask about what a rule matches that is not converted, and nothing for a policy that Kyverno refuses", () => {
    assert.deepEqual(asked(one(old([rule("ConfigMap", { verifyImages: [{ imageReferences: ["*"] }] })]))), [
      "configmaps",
    ]);
    assert.deepEqual(derive([old([])]).webhooks, []);
  });

  test("are mutating ones where a rule changes objects", () => {
    const webhook = one(old([rule("ConfigMap", { mutate: { patchStrategicMerge: { data: { a: "b" } } } })]));
    assert.equal(webhook.type, "mutating");
    assert.equal(one(old([rule("ConfigMap")])).type, "validating");
  });

  test("are for the namespace of a Policy", () => {
    const [condition] = one(old([rule("ConfigMap")], {}, "team")).matchConditions;
    assert.match(condition?.expression ?? "", /request\.namespace == "team"/);
  });
});
