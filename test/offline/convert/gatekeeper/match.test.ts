import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { printed } from "../../../../src/offline/convert/index.js";
import { constraint, converted, type Json, judge, SOURCE, template } from "./converted.js";

/** Gatekeeper's wildcards. */
function fits(pattern: string, text: string): boolean {
  const bare = pattern.replace(/^\*/, "").replace(/\*$/, "");
  if (pattern.startsWith("*") && pattern.endsWith("*")) return text.includes(bare);
  if (pattern.startsWith("*")) return text.endsWith(bare);
  return pattern.endsWith("*") ? text.startsWith(bare) : text === pattern;
}

describe("the match of a Constraint", () => {
  const objects = [
    { apiVersion: "v1", kind: "Pod", metadata: { name: "web", namespace: "prod-eu", labels: { app: "a" } } },
    { apiVersion: "v1", kind: "Pod", metadata: { name: "db", namespace: "kube-system" } },
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "prod-eu", labels: { app: "a" } } },
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "kube-system", labels: { app: "b" } } },
    { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web", namespace: "team-a", labels: { app: "b" } } },
    { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name: "web" } },
    { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "web-1", namespace: "team-a" } },
  ];
  const KINDS = [
    undefined,
    [{ apiGroups: [""], kinds: ["Pod"] }],
    [{ apiGroups: ["*"], kinds: ["Pod", "Widget"] }],
    [{ apiGroups: ["apps", "example.com"], kinds: ["*"] }, { kinds: ["Namespace"] }],
    [{ apiGroups: ["", "apps"], kinds: ["Deployment", "Namespace"] }],
    [
      { apiGroups: ["*"], kinds: ["*"] },
      { apiGroups: [""], kinds: ["Pod"] },
    ],
  ];
  const MATCHES = KINDS.flatMap((kinds) =>
    [
      {},
      { namespaces: ["prod-*", "team-a"] },
      { excludedNamespaces: ["kube-*"] },
      { namespaces: ["*"], excludedNamespaces: ["*eu*", "team-a"] },
      { scope: "Cluster" },
      { scope: "Namespaced", name: "we*" },
      { name: "*b" },
      { labelSelector: { matchLabels: { app: "a" } } },
      { labelSelector: { matchExpressions: [{ key: "app", operator: "DoesNotExist" }] }, namespaces: ["prod-eu"] },
    ].map((match) => ({ ...match, ...(kinds && { kinds }) })),
  );

  /** What Gatekeeper's matcher says (pkg/mutation/match/match.go), of an object without a former state. */
  function matches(match: Record<string, unknown>, { apiVersion, kind, metadata }: (typeof objects)[number]): boolean {
    const group = apiVersion.includes("/") ? (apiVersion.split("/")[0] ?? "") : "";
    const listed = (key: string, from: object = match): readonly string[] =>
      (from as Record<string, string[]>)[key] ?? [];
    const has = (list: readonly string[], one: string): boolean =>
      list.length === 0 || list.includes("*") || list.includes(one);
    const kinds = (match.kinds ?? []) as readonly object[];
    const isNamespace = kind === "Namespace" && group === "";
    const namespace = isNamespace ? metadata.name : metadata.namespace;
    const labels: Record<string, string> = metadata.labels ?? {};
    const selector = match.labelSelector as { matchLabels?: { app: string } } | undefined;
    return [
      kinds.length === 0 ||
        kinds.some((each) => has(listed("kinds", each), kind) && has(listed("apiGroups", each), group)),
      match.scope !== "Cluster" || isNamespace || namespace === undefined,
      match.scope !== "Namespaced" || (!isNamespace && namespace !== undefined),
      listed("namespaces").length === 0 ||
        namespace === undefined ||
        listed("namespaces").some((each) => fits(each, namespace)),
      namespace === undefined || !listed("excludedNamespaces").some((each) => fits(each, namespace)),
      match.name === undefined || fits(String(match.name), metadata.name),
      selector === undefined ||
        (selector.matchLabels === undefined ? !("app" in labels) : labels.app === selector.matchLabels.app),
    ].every(Boolean);
  }

  for (const match of MATCHES)
    test(JSON.stringify(match), async () => {
      const made = converted(template(SOURCE), constraint({ match }));
      const answers = await judge(
        made,
        objects.map((object) => ({ object })),
      );
      assert.deepEqual(
        answers.map(({ allowed }) => !allowed),
        objects.map((object) => matches(match, object)),
      );
    });

  test("subresources that change a Pod belong to Pods", async () => {
    const object = objects[0];
    const made = converted(template(SOURCE), constraint({ match: { kinds: [{ apiGroups: [""], kinds: ["Pod"] }] } }));
    const gvk = { group: "", version: "v1", kind: "Pod" };
    const request = (subResource: string): Json => ({
      request: {
        uid: "u",
        kind: gvk,
        resource: { group: "", version: "v1", resource: "pods" },
        subResource,
        operation: "UPDATE",
        name: "web",
        namespace: "prod-eu",
        userInfo: {},
        object,
        oldObject: object,
      },
    });
    const answers = await judge(
      made,
      ["ephemeralcontainers", "resize", "status"].map((each) => request(each) as { request: Json }),
    );
    assert.deepEqual(
      answers.map(({ allowed }) => allowed),
      [false, false, true],
    );
  });

  test("a selector of namespaces is about a Namespace's own labels, before and after", async () => {
    const made = converted(
      template(SOURCE),
      constraint({
        match: { namespaceSelector: { matchLabels: { app: "a" } }, labelSelector: { matchLabels: { x: "y" } } },
      }),
    );
    const namespace = (labels: Json): Json => ({
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "n", labels },
    });
    const [both, one] = [namespace({ app: "a", x: "y" }), namespace({ app: "a" })];
    const answers = await judge(made, [{ object: both }, { object: one }, { object: one, oldObject: both }]);
    assert.deepEqual(
      answers.map(({ allowed }) => allowed),
      [false, true, false],
    );
    assert.equal(printed(made.policies, "vap").match(/^kind: ValidatingAdmissionPolicyBinding$/gm)?.length, 2);
  });

  test("only an operation of the template is judged; without any, those that Gatekeeper's webhook is sent", async () => {
    const object = objects[0];
    const questions = (["CREATE", "UPDATE", "DELETE"] as const).map((operation) => ({ object, operation }));
    for (const [operations, denied] of [
      [undefined, [true, true, false]],
      [["DELETE"], [false, false, true]],
      [["*"], [true, true, true]],
    ] as const) {
      const answers = await judge(converted(template(SOURCE, { operations }), constraint({})), questions);
      assert.deepEqual(
        answers.map(({ allowed }) => !allowed),
        denied,
        String(operations),
      );
    }
  });
});
