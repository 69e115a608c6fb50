import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import type { DerivedWebhook } from "../../../src/cluster/webhooks/derived-webhook.js";
import { isExempt, isOwnCondition, UNASKED } from "../../../src/cluster/webhooks/exclusions.js";
import { WebhookDeriver } from "../../../src/cluster/webhooks/from-documents.js";
import { idOf } from "../../../src/cluster/webhooks/part.js";
import type { ClusterDocument } from "../../../src/config/from-cluster/cluster-document.js";
import type { JsonObject } from "../../../src/kubernetes/object.js";
import type { AdmissionQuestion } from "../../../src/policy/index.js";
import { pick, type Random, random } from "../../fuzz/random.js";
import { asks } from "./asks.js";
import { admissionPolicy, binding, kubewarden, kyverno } from "./documents.js";

const EVERYTHING = { apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*/*"] };
const rule = (group: string, resource: string, more: JsonObject = {}): JsonObject => ({
  ...EVERYTHING,
  apiGroups: [group],
  resources: [resource],
  ...more,
});

interface Asked {
  readonly group: string;
  readonly resource: string;
  readonly version?: string;
  readonly subresource?: string;
  readonly operation?: string;
  readonly namespace?: string;
  readonly name?: string;
}

function question(about: Asked): AdmissionQuestion {
  const { group, resource, version = "v1", subresource, operation = "CREATE", namespace, name = "x" } = about;
  const request = {
    uid: "u",
    kind: { group, version, kind: "K" },
    resource: { group, version, resource },
    ...(subresource !== undefined && { subResource: subresource }),
    ...{ name, ...(namespace !== undefined && { namespace }), operation, userInfo: {}, object: {}, dryRun: false },
  };
  return { request } as unknown as AdmissionQuestion;
}

const LABELS = { "kubernetes.io/metadata.name": "team" };
const isAsked = (webhook: DerivedWebhook | undefined, about: Asked): boolean =>
  webhook !== undefined && asks(webhook, question(about), LABELS) === "asks";
/** By our condition alone. */
const isLetThrough = (webhook: DerivedWebhook | undefined, about: Asked): boolean =>
  isAsked(webhook && { ...webhook, matchConditions: webhook.matchConditions.filter(isOwnCondition) }, about);

function webhookOf(documents: ClusterDocument[], exemptNamespaces: readonly string[] = []) {
  const options = { ownNamespace: "policy-server", exemptNamespaces, idOf, enforceAdmissionPolicies: true };
  const { webhooks } = new WebhookDeriver(options).derive(documents);
  return webhooks[0];
}

const kyvernoWith = (resourceRules: readonly JsonObject[], spec: JsonObject = {}): ClusterDocument =>
  kyverno("p", { matchConstraints: { resourceRules, ...spec } });

describe("wildcards of webhooks", () => {
  const forms: Readonly<Record<string, (rules: JsonObject[]) => ClusterDocument[]>> = {
    Kubewarden: (rules) => [kubewarden("p", { rules })],
    Kyverno: (rules) => [kyvernoWith(rules)],
  };
  for (const [form, make] of Object.entries(forms)) {
    test(`of ${form} leave out all that keeps a cluster running`, () => {
      for (const { group, resource, subresources } of UNASKED) {
        for (const wild of [
          EVERYTHING,
          rule("*", resource),
          rule("*", `${resource}/*`),
          rule(group, "*"),
          rule(group, "*/*"),
        ]) {
          const webhook = webhookOf(make([wild]));
          for (const operation of ["CREATE", "UPDATE", "DELETE"])
            for (const subresource of [undefined, "status", ...(subresources ? [] : ["approval"])])
              assert.equal(
                isAsked(webhook, { group, resource, operation, ...(subresource && { subresource }) }),
                false,
                resource,
              );
        }
      }
    });

    test(`of ${form} ask about all else`, () => {
      const webhook = webhookOf(make([EVERYTHING]));
      for (const [group, resource, subresource] of [
        ["", "pods"],
        ["", "nodes", "proxy"],
        ["", "events2"],
        ["storage.k8s.io", "csidrivers"],
        ["apiextensions.k8s.io", "customresourcedefinitions"],
        ["policies.kyverno.io", "imagevalidatingpolicies"],
        ["example.com", "leases"],
        ["example.com", "nodes", "status"],
      ] as const)
        assert.equal(isAsked(webhook, { group, resource, ...(subresource && { subresource }) }), true, resource);
    });
  }

  test("leave out Events in the other group, too, in which the API server matches them and shows conditions the asked one", () => {
    // Rules match by way of the other group.
    const isShown = (rules: JsonObject[], group: string): boolean => {
      const made = webhookOf([kyvernoWith(rules)]);
      return isLetThrough(made && { ...made, rules: [{ ...EVERYTHING, scope: "*" }] }, { group, resource: "events" });
    };
    for (const [group, other] of [
      ["events.k8s.io", ""],
      ["", "events.k8s.io"],
    ] as const)
      for (const wild of [rule(group, "*"), rule(group, "*/*")]) {
        assert.equal(isShown([wild], other), false, group);
        assert.equal(isShown([wild, rule(group, "events")], other), true, group);
      }
  });

  test("of ValidatingAdmissionPolicies leave out only Kubernetes' list, Leases and reports", () => {
    const documents = [admissionPolicy("p", { matchConstraints: { resourceRules: [EVERYTHING] } }), binding("p")];
    const webhook = webhookOf(documents);
    const left = UNASKED.filter(({ group, resource }) => !isAsked(webhook, { group, resource }));
    const groups = new Set(left.map(({ group }) => group));
    assert.deepEqual([...groups].sort(), [
      "admissionregistration.k8s.io",
      "authentication.k8s.io",
      "authorization.k8s.io",
      "coordination.k8s.io",
      "openreports.io",
      "wgpolicyk8s.io",
    ]);
  });

  test("have no condition where they mean nothing of that", () => {
    for (const rules of [[rule("apps", "*")], [rule("", "pods")], [rule("*", "pods")], [rule("", "nodes")]])
      assert.deepEqual(webhookOf([kubewarden("p", { rules })])?.matchConditions, [], JSON.stringify(rules));
  });
});

describe("rules by name", () => {
  test("are obeyed for what they say, beside wildcards", () => {
    const next = random(48);
    for (let round = 0; round < 25; round++) {
      const named = Array.from({ length: 1 + next(3) }, () => namedRule(next));
      const wild = { ...EVERYTHING, operations: [pick(next, ["*", "CREATE"])] };
      const matchPolicy = pick(next, ["Exact", "Equivalent"]);
      const webhook = webhookOf([kubewarden("p", { rules: [wild, ...named], matchPolicy })]);
      for (let i = 0; i < 60; i++) {
        const about = request(next);
        const expected = named.some((each) => says(each, about, matchPolicy === "Equivalent"));
        assert.equal(
          isAsked(webhook, about),
          expected && isNamedOrWild(about, wild, named),
          JSON.stringify([named, about, webhook]),
        );
      }
    }
  });

  test("with names of objects are obeyed for these objects alone", () => {
    const rules = [EVERYTHING, rule("coordination.k8s.io", "leases", { resourceNames: ["mine"] })];
    const webhook = webhookOf([kyvernoWith(rules)]);
    const leases = { group: "coordination.k8s.io", resource: "leases" };
    assert.deepEqual(
      [isAsked(webhook, { ...leases, name: "mine" }), isAsked(webhook, { ...leases, name: "other" })],
      [true, false],
    );
  });

  test("beside a star in one list are still by name", () => {
    const rules = [rule("coordination.k8s.io", "*", { resources: ["*", "leases"] })];
    const webhook = webhookOf([kubewarden("p", { rules })]);
    assert.equal(isAsked(webhook, { group: "coordination.k8s.io", resource: "leases" }), true);
    assert.equal(isAsked(webhook, { group: "coordination.k8s.io", resource: "leasecandidates" }), false);
  });

  test("about reviews are not obeyed for a policy that may ask about rights", () => {
    const reviews = UNASKED.filter(({ kind }) => kind === "review");
    const AUTHORIZER = "authorizer.group('').resource('pods').check('get').allowed()";
    for (const { group, resource } of reviews) {
      const rules = [rule(group, resource)];
      const asked = (spec: JsonObject): boolean =>
        isLetThrough(webhookOf([kyverno("p", { matchConstraints: { resourceRules: rules }, ...spec })]), {
          group,
          resource,
        });
      assert.equal(asked({}), true);
      assert.equal(asked({ variables: [{ name: "v", expression: "http.Post('https://x', {})" }] }), true);
      // Modules of the whole cluster may call kubernetes/can_i.
      assert.equal(isLetThrough(webhookOf([kubewarden("p", { rules })]), { group, resource }), false);
      for (const spec of [
        { matchConditions: [{ name: "c", expression: AUTHORIZER }] },
        { variables: [{ name: "v", expression: AUTHORIZER }] },
        { validations: [{ expression: "true", messageExpression: AUTHORIZER }] },
        { auditAnnotations: [{ key: "k", valueExpression: AUTHORIZER }] },
        { variables: [{ name: "v", expression: "resource.Post('a/v1', 'subjectaccessreviews', {})" }] },
        { settings: { validations: [{ expression: AUTHORIZER }] } },
        { policies: { a: { settings: { variables: [{ name: "v", expression: AUTHORIZER }] } } } },
      ])
        assert.equal(asked(spec), false, JSON.stringify(spec));
    }
  });
});

const NAMES = [
  ["", "nodes"],
  ["", "events"],
  ["events.k8s.io", "events"],
  ["coordination.k8s.io", "leases"],
  ["certificates.k8s.io", "certificatesigningrequests"],
] as const;

const namedRule = (next: Random): JsonObject & { apiGroups: string[]; resources: string[] } => {
  const [group, resource] = pick(next, NAMES);
  return {
    apiGroups: [group],
    apiVersions: [pick(next, ["*", "v1", "v1beta1"])],
    operations: [pick(next, ["*", "CREATE", "DELETE"])],
    resources: [`${resource}${pick(next, ["", "/*", "/status"])}`],
    scope: pick(next, ["*", "Cluster", "Namespaced"]),
  };
};

function request(
  next: Random,
): Required<Omit<Asked, "subresource" | "namespace">> & Pick<Asked, "subresource" | "namespace"> {
  const [group, resource] = pick(next, NAMES);
  return {
    ...{ group, resource, name: "x" },
    version: pick(next, ["v1", "v1beta1"]),
    operation: pick(next, ["CREATE", "DELETE"]),
    ...(next(2) === 0 && { subresource: "status" }),
    ...(next(2) === 0 && { namespace: "team" }),
  };
}

/** Whether a rule means a request, the other way of its group and its versions among it. */
function says(each: JsonObject, about: Asked, equivalent: boolean): boolean {
  const has = (key: string, value: string): boolean => {
    const list = each[key] as string[];
    return list.includes("*") || list.includes(value);
  };
  const [resource, sub = ""] = (each.resources as string[])[0]?.split("/") ?? [];
  const isGroup = has("apiGroups", about.group) || (equivalent && about.resource === "events");
  return (
    isGroup &&
    (equivalent || has("apiVersions", about.version ?? "")) &&
    has("operations", about.operation ?? "") &&
    resource === about.resource &&
    (sub === "*" || sub === (about.subresource ?? "")) &&
    (each.scope === "*" || each.scope === (about.namespace === undefined ? "Cluster" : "Namespaced"))
  );
}

/** Whether some rule of the webhook brings a request to its conditions, as the simulation has it: without a look at other versions and groups. */
const isNamedOrWild = (about: Asked, wild: { operations: string[] }, named: readonly JsonObject[]): boolean =>
  wild.operations.includes("*") || about.operation === "CREATE" || named.some((each) => says(each, about, false));

describe("a policy with as many match conditions as there may be", () => {
  const conditions = (n: number, expression = (i: number): string => `${i} >= 0`): JsonObject[] =>
    Array.from({ length: n }, (_, i) => ({ name: `c${i}`, expression: expression(i) }));
  const webhook = (matchConditions: JsonObject[]) =>
    webhookOf([kubewarden("p", { rules: [EVERYTHING], matchConditions })], ["a-*"]);
  const LEASES = { group: "coordination.k8s.io", resource: "leases" };
  const PODS = { group: "", resource: "pods", namespace: "team" };

  test("keeps ours, as part of one of its own", () => {
    for (const n of [63, 64]) {
      const made = webhook(conditions(n));
      assert.equal(made?.matchConditions.length, 64);
      assert.deepEqual(
        [isAsked(made, LEASES), isAsked(made, PODS), isAsked(made, { ...PODS, namespace: "a-b" })],
        [false, true, false],
      );
    }
  });

  test("is asked about nothing that its own conditions leave out, where ours is one choice of several", () => {
    const rules = [rule("coordination.k8s.io", "leases"), rule("*", "leases")];
    const made = webhookOf([
      kubewarden("p", { rules, matchConditions: conditions(64, (i) => (i === 0 ? "false" : `${i} > 0`)) }),
    ]);
    assert.equal(made?.matchConditions.length, 64);
    assert.equal(isAsked(made, LEASES), false);
  });

  test("cannot end ours by what stands in its own", () => {
    for (const trick of ["true) || (true", "true // all", "true\n// )", "true || ('//' == \"\")"]) {
      const made = webhook(
        conditions(64, (i) => (i === 0 ? trick : `${i} >= 0 && 'long enough to be the longer one' != ''`)),
      );
      assert.equal(made === undefined ? false : isAskedWithout(made, trick), false, trick);
    }
  });

  test("has no webhook where none of its own can be read", () => {
    assert.equal(webhook(conditions(64, () => "1 +")), undefined);
  });

  /** Leases, where the API server would take the expressions at all. */
  const isAskedWithout = (made: DerivedWebhook, trick: string): boolean =>
    isAsked(
      { ...made, matchConditions: made.matchConditions.filter(({ expression }) => expression !== trick) },
      LEASES,
    );
});

describe("exempt namespaces", () => {
  const rules = [rule("", "configmaps"), rule("", "namespaces"), rule("", "pods/*")];
  const exempt = ["calico-system", "openshift-*", "*-infra", "a*b*c"];
  const webhook = webhookOf([kubewarden("p", { rules })], exempt);
  const asked = (about: Asked, namespace: string): boolean =>
    asks(webhook as DerivedWebhook, question({ ...about, namespace }), { "kubernetes.io/metadata.name": namespace }) ===
    "asks";

  test("are left out by name and by pattern, with their Namespace and what is below an object", () => {
    const names = [
      "calico-system",
      "openshift-",
      "openshift-sdn",
      "my-infra",
      "abc",
      "axbxc",
      "kube-system",
      "policy-server",
    ];
    const others = ["calico-systems", "not-openshift-sdn", "infra", "ab", "cab", "team", "xopenshift-y"];
    for (const namespace of [...names, ...others]) {
      const isLeftOut = names.includes(namespace);
      for (const about of [
        { group: "", resource: "configmaps" },
        { group: "", resource: "pods", subresource: "exec" },
      ])
        assert.equal(asked(about, namespace), !isLeftOut, `${namespace} ${about.resource}`);
      assert.equal(isExempt(exempt, namespace), isLeftOut && namespace !== "policy-server", namespace);
    }
  });

  test("leave cluster-scoped objects as they are, and no label of a namespace exempts", () => {
    const nodes = webhookOf([kubewarden("p", { rules: [rule("", "persistentvolumes")] })], exempt);
    assert.equal(isAsked(nodes, { group: "", resource: "persistentvolumes", name: "openshift-x" }), true);
    const labels = {
      "kubernetes.io/metadata.name": "team",
      "policy-server.admission/exempt": "true",
      openshift: "true",
    };
    const about = question({ group: "", resource: "configmaps", namespace: "team" });
    assert.equal(asks(webhook as DerivedWebhook, about, labels), "asks");
  });

  test("are not asked about even by a policy that lives there", () => {
    for (const namespace of ["calico-system", "openshift-sdn", "kube-system"]) {
      const derived = new WebhookDeriver({ ownNamespace: "own", exemptNamespaces: exempt, idOf }).derive([
        kubewarden("p", { rules, allowInsideAdmissionControllerNamespace: true }, namespace),
      ]);
      assert.deepEqual(derived.webhooks, []);
      assert.match(
        derived.problems[0]?.text ?? "",
        new RegExp(`is about the namespace ${namespace}, which no webhook`),
      );
    }
  });
});

test("docs/cluster.md lists every resource that wildcards leave out", () => {
  const page = readFileSync(new URL("../../../../docs/cluster.md", import.meta.url), "utf8");
  const from = page.indexOf("### What is never asked about");
  const section = page.slice(from, page.indexOf("\n### ", from + 1));
  for (const { group, resource } of UNASKED) {
    const row = section
      .split("\n")
      .find(
        (line) => line.includes(`\`${resource}\``) && (group === "" ? line.includes("core") : line.includes(group)),
      );
    assert.ok(row !== undefined, `${resource} of ${group || "core"}`);
  }
});
