import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { admissionPolicyDemand } from "../../../src/cluster/webhooks/admission-policy-demand.js";
import type { AskedPolicy } from "../../../src/cluster/webhooks/demand.js";
import { webhooksFor } from "../../../src/cluster/webhooks/derive.js";
import type { DerivedWebhook } from "../../../src/cluster/webhooks/derived-webhook.js";
import { kyvernoDemand } from "../../../src/cluster/webhooks/kyverno-demand.js";
import { PortableConditions } from "../../../src/cluster/webhooks/portable-conditions.js";
import type { JsonObject } from "../../../src/kubernetes/object.js";
import type { AdmissionQuestion, Policy } from "../../../src/policy/index.js";
import { FileResources } from "../../../src/world/resources/file-resources.js";
import { pick, type Random, random } from "../../fuzz/random.js";
import { context, never, review, setOf, world } from "../../kinds/kyverno/asked.js";
import {
  asked as askedMutating,
  prepare as prepareMutating,
} from "../../kinds/mutating-admission-policy/support/documents.js";
import { asked, prepare } from "../../kinds/validating-admission-policy/prepared.js";
import { answerOf } from "../../support/asking.js";
import { asks } from "./asks.js";

const ROUNDS = 150;
const REQUESTS = 40;
const LABELS = ["a", "b"];
const VALUES = ["x", "y"];
const NAMESPACES: readonly JsonObject[] = [
  {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "n1", labels: { "kubernetes.io/metadata.name": "n1", a: "x" } },
  },
  {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "n2", labels: { "kubernetes.io/metadata.name": "n2", b: "y" } },
  },
];

const some = <T>(next: Random, from: readonly T[]): T[] => from.filter(() => next(2) === 0);
const few = <T>(next: Random, from: readonly T[]): T[] => [
  pick(next, from),
  ...some(next, from).filter(() => next(3) === 0),
];

function labels(next: Random): Record<string, string> {
  return Object.fromEntries(some(next, LABELS).map((key) => [key, pick(next, VALUES)]));
}

function selector(next: Random): JsonObject {
  const expression = (): JsonObject => {
    const operator = pick(next, ["In", "NotIn", "Exists", "DoesNotExist"]);
    const values = operator.endsWith("In") ? { values: few(next, VALUES) } : {};
    return { key: pick(next, LABELS), operator, ...values };
  };
  return pick(next, [
    () => ({}),
    () => ({}),
    () => ({ matchLabels: labels(next) }),
    () => ({ matchExpressions: [expression()] }),
    () => ({ matchLabels: labels(next), matchExpressions: [expression(), expression()] }),
  ])();
}

/** Words of a rule as the API server takes them: a star stands alone. */
const words = (next: Random, from: readonly string[]): string[] =>
  next(4) === 0 ? ["*"] : [...new Set(few(next, from))];
const RESOURCES = [
  ["pods"],
  ["pods", "services"],
  ["pods/*"],
  ["*"],
  ["*/*"],
  ["*/status"],
  ["deployments"],
  ["namespaces"],
  ["nodes", "pods/exec"],
];

function rule(next: Random): JsonObject {
  const [group, version] = pick(next, [
    [[""], ["v1"]],
    [["apps"], ["v1"]],
    [["*"], ["*"]],
    [
      ["", "apps"],
      ["v1", "v2"],
    ],
  ] as const);
  return {
    apiGroups: group,
    apiVersions: version,
    operations: words(next, ["CREATE", "UPDATE", "DELETE", "CONNECT"]),
    resources: pick(next, RESOURCES),
    ...(next(4) === 0 && { scope: pick(next, ["*", "Namespaced", "Cluster"]) }),
    ...(next(5) === 0 && { resourceNames: ["web"] }),
  };
}

const CONDITIONS = [
  "request.operation != 'DELETE'",
  "object.metadata.name == 'web'",
  "oldObject == null",
  "oldObject != null",
  "object != null",
  "oldObject.metadata.name == 'web'",
  "has(object.metadata.labels) && 'a' in object.metadata.labels",
  "request.userInfo.username == 'u'",
  "request.namespace == 'n1'",
];

function match(next: Random): JsonObject {
  return {
    namespaceSelector: selector(next),
    objectSelector: selector(next),
    matchPolicy: "Exact",
    resourceRules: [rule(next), ...(next(3) === 0 ? [rule(next)] : [])],
    ...(next(4) === 0 && { excludeResourceRules: [rule(next)] }),
  };
}

/** The same without the operation at which nothing is mutated, which the API server refuses by name. */
const mutated = (constraints: JsonObject): JsonObject => {
  const without = (rules: unknown) =>
    ((rules ?? []) as readonly JsonObject[]).map((each) => {
      const operations = (each.operations as readonly string[]).filter((operation) => operation !== "DELETE");
      return { ...each, operations: operations.length === 0 ? ["CREATE"] : operations };
    });
  const { resourceRules, excludeResourceRules } = constraints;
  return {
    ...constraints,
    resourceRules: without(resourceRules),
    excludeResourceRules: without(excludeResourceRules),
  };
};

const conditions = (next: Random): JsonObject =>
  next(2) === 0
    ? {}
    : { matchConditions: few(next, CONDITIONS).map((expression, i) => ({ name: `c${i}`, expression })) };

const KINDS = [
  ["", "v1", "pods", "Pod", true],
  ["", "v1", "services", "Service", true],
  ["apps", "v1", "deployments", "Deployment", true],
  ["batch", "v1", "cronjobs", "CronJob", true],
  ["", "v1", "nodes", "Node", false],
  ["", "v1", "namespaces", "Namespace", false],
] as const;

interface Asked {
  readonly question: AdmissionQuestion;
  readonly namespaceLabels: Readonly<Record<string, string>>;
}

/** A request as an API server sends it; `objects`: such as have both objects where they have one. */
function request(next: Random): Asked {
  const [group, version, resource, kind, namespaced] = pick(next, KINDS);
  const operation = pick(next, ["CREATE", "UPDATE", "DELETE"]);
  const own = pick(next, NAMESPACES) as { metadata: { name: string; labels: Record<string, string> } };
  const isNamespace = resource === "namespaces";
  const name = isNamespace ? own.metadata.name : pick(next, ["web", "db"]);
  const namespace = namespaced || isNamespace ? own.metadata.name : undefined;
  const object = (): JsonObject => ({
    apiVersion: group === "" ? version : `${group}/${version}`,
    kind,
    metadata: {
      name,
      ...(namespaced && { namespace }),
      labels: isNamespace ? own.metadata.labels : labels(next),
    },
    spec: { template: { metadata: { name }, spec: {} } },
  });
  const question = review({
    kind: { group, version, kind },
    resource: { group, version, resource },
    operation,
    name,
    namespace,
    ...(next(5) === 0 && { subResource: "status" }),
    userInfo: { username: pick(next, ["u", "v"]) },
    object: operation === "DELETE" ? null : object(),
    oldObject: operation === "CREATE" ? null : object(),
  });
  return { question, namespaceLabels: own.metadata.labels };
}

const OPTIONS = { ownNamespace: "policy-server" };

function only(policy: AskedPolicy | undefined): DerivedWebhook | undefined {
  return policy && webhooksFor([policy], OPTIONS).webhooks[0];
}

/** Compares what a policy that denies whatever it judges says with what its webhook asks about. */
function compare(next: Random, policy: Policy, webhook: DerivedWebhook | undefined, about: unknown): number {
  let judged = 0;
  for (let i = 0; i < REQUESTS; i++) {
    const { question, namespaceLabels } = request(next);
    const { verdict } = answerOf(policy, question, context());
    const answer = webhook === undefined ? "doesn't" : asks(webhook, question, namespaceLabels);
    const shown = (): string => JSON.stringify({ about, webhook, request: question.request, verdict, answer });
    if (verdict !== "skip") judged += 1;
    if (verdict !== "skip") assert.notEqual(answer, "doesn't", shown());
    else assert.notEqual(answer, "refuses", shown());
  }
  return judged;
}

describe("everything that a policy judges, its webhook asks about; and what it does not judge is not refused", () => {
  const portable = new PortableConditions();

  test("ValidatingAdmissionPolicies with their bindings", () => {
    let judged = 0;
    for (let seed = 0; seed < ROUNDS; seed++) {
      const next = random(seed);
      const failurePolicy = pick(next, ["Fail", "Ignore"]);
      const spec = {
        failurePolicy,
        matchConstraints: match(next),
        ...conditions(next),
        validations: [{ expression: "false" }],
      };
      const bindings = Array.from({ length: next(3) }, () => ({
        policyName: "p",
        validationActions: ["Deny"],
        ...(next(2) === 0 && { matchResources: match(next) }),
      }));
      const kind = { apiVersion: "admissionregistration.k8s.io/v1" };
      const documents: JsonObject[] = [
        { ...kind, kind: "ValidatingAdmissionPolicy", metadata: { name: "p" }, spec },
        ...bindings.map((each, i) => ({
          ...kind,
          kind: "ValidatingAdmissionPolicyBinding",
          metadata: { name: `b${i}` },
          spec: each,
        })),
        ...NAMESPACES,
      ];
      const prepared = prepare(documents);
      // Rules that an API server would not store.
      if (prepared.problems.some(({ severity }) => severity === "error")) continue;
      const options = { conditions: portable, ...(bindings.length > 0 && { bindings }) };
      judged += compare(next, asked(prepared), only(admissionPolicyDemand("p", spec, options)), documents);
    }
    assert.ok(judged > ROUNDS, `only ${judged} judged`);
  });

  test("MutatingAdmissionPolicies, also those of one pass", () => {
    let judged = 0;
    let together = 0;
    for (let seed = 0; seed < ROUNDS; seed++) {
      const next = random(seed + 2_000);
      const same = mutated(match(next));
      const failurePolicy = pick(next, ["Fail", "Fail", "Ignore"]);
      const made = ["p", "q"].flatMap((name) => {
        const spec = {
          ...{ failurePolicy, reinvocationPolicy: pick(next, ["Never", "IfNeeded"]) },
          matchConstraints: next(3) > 0 ? same : mutated(match(next)),
          ...conditions(next),
          mutations: [{ patchType: "JSONPatch", jsonPatch: { expression: "[JSONPatch{op: string(1 / 0)}]" } }],
        };
        const bindings = Array.from({ length: next(3) }, () => ({
          policyName: name,
          ...(next(4) === 0 && { matchResources: mutated(match(next)) }),
        }));
        const kind = { apiVersion: "admissionregistration.k8s.io/v1" };
        const documents: JsonObject[] = [
          { ...kind, kind: "MutatingAdmissionPolicy", metadata: { name }, spec },
          ...bindings.map((each, i) => {
            const metadata = { name: `b${i}` };
            return { ...kind, kind: "MutatingAdmissionPolicyBinding", metadata, spec: each };
          }),
          ...NAMESPACES,
        ];
        if (prepareMutating(documents).problems.some(({ severity }) => severity === "error")) return [];
        const options = { conditions: portable, mutating: true, ...(bindings.length > 0 && { bindings }) };
        const demand = admissionPolicyDemand(name, spec, options);
        return demand === undefined ? [] : [{ name, demand, policy: askedMutating(documents), documents }];
      });
      const { webhooks } = webhooksFor(
        made.map(({ demand }) => demand),
        OPTIONS,
      );
      for (const webhook of webhooks) {
        const members = made.filter(({ name }) => webhook.members.includes(name));
        if (members.length > 1) together += 1;
        for (let i = 0; i < REQUESTS; i++) {
          const { question, namespaceLabels } = request(next);
          const answer = asks(webhook, question, namespaceLabels);
          // Its only mutation fails.
          const failing = members.filter(({ policy }) => answerOf(policy, question, context()).verdict === "error");
          const shown = JSON.stringify({ members, webhook, request: question.request, answer });
          if (failing.length > 0) assert.notEqual(answer, "doesn't", shown);
          else assert.notEqual(answer, "refuses", shown);
          judged += failing.length;
        }
      }
    }
    assert.ok(judged > ROUNDS && together > 10, `only ${judged} judged, ${together} together`);
  });

  test("Kyverno's policies with the controllers of pods", () => {
    let judged = 0;
    for (let seed = 0; seed < ROUNDS; seed++) {
      const next = random(seed + 1_000);
      const podsOnly = next(2) === 0;
      const pods = {
        apiGroups: [""],
        apiVersions: ["v1"],
        operations: words(next, ["CREATE", "UPDATE", "DELETE"]),
        resources: ["pods"],
      };
      const matchConstraints = podsOnly
        ? { namespaceSelector: selector(next), resourceRules: [pods] }
        : // Of objects that are not there Kyverno's own webhooks know no labels either.
          { ...match(next), objectSelector: {} };
      const namespace = next(4) === 0 ? "n1" : undefined;
      const resource = never(
        { matchConstraints, failurePolicy: pick(next, ["Fail", "Ignore"]), ...conditions(next) },
        namespace === undefined ? {} : { namespace },
      );
      const policy = setOf([resource], { world: world({ resources: new FileResources(NAMESPACES) }) });
      const demand = kyvernoDemand("p", resource, { conditions: portable, excepted: false });
      judged += compare(next, policy, only(demand), resource);
    }
    assert.ok(judged > ROUNDS, `only ${judged} judged`);
  });
});
