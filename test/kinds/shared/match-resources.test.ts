import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Waiting } from "../../../src/cel/questions.js";
import type { LabelSelector } from "../../../src/kinds/shared/match/label-selector.js";
import { matchRequest, prepareMatch } from "../../../src/kinds/shared/match/match-resources.js";
import { attributesOf, attributesOfRaw } from "../../../src/kinds/shared/match/request-attributes.js";
import { SomeEquivalents } from "../../../src/kubernetes/shared-storage.js";
import { FileResources } from "../../../src/world/resources/file-resources.js";
import { requestWorldOver } from "../../support/worlds.js";

const labelled = (kind: string, labels: Readonly<Record<string, string>>) => ({
  ...{ apiVersion: "v1", kind, metadata: { name: "ns", labels } },
});

interface Asked {
  readonly resource?: string;
  readonly operation?: string;
  readonly object?: unknown;
  readonly oldObject?: unknown;
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly version?: string;
  readonly group?: string;
  readonly ruleGroup?: string;
  readonly scope?: string;
  readonly resources?: FileResources;
}

function outcome({ resource = "pods", operation = "CREATE", version = "v1", group = "", ...asked }: Asked): string {
  const { namespaceSelector = {}, objectSelector = {}, object, oldObject } = asked;
  const { ruleGroup = group, scope = "*" } = asked;
  const rule = { operations: ["*"], apiGroups: [ruleGroup], apiVersions: [version], resources: [resource], scope };
  const attributes = attributesOf({
    ...{ uid: "", kind: { group, version: "v1", kind: "K" }, resource: { group, version: "v1", resource } },
    ...{ operation, namespace: "ns", name: "n", userInfo: {}, object, oldObject },
  });
  const resources = asked.resources ?? new FileResources([labelled("Namespace", { of: "namespace" })]);
  const match = prepareMatch({ namespaceSelector, objectSelector, resourceRules: [rule], matchPolicy: "Equivalent" });
  const result = matchRequest(match, attributes, requestWorldOver(resources));
  return result instanceof Waiting ? "waiting" : result.outcome;
}

describe("a namespaceSelector", () => {
  const of = (value: string): LabelSelector => ({ matchLabels: { of: value } });

  test("is asked about the Namespace that an object is in, and not about the object", () => {
    for (const operation of ["CREATE", "UPDATE", "DELETE", "CONNECT"]) {
      const object = labelled("Pod", { of: "object" });
      assert.equal(outcome({ operation, object, namespaceSelector: of("namespace") }), "match", operation);
      assert.equal(outcome({ operation, object, namespaceSelector: of("object") }), "no", operation);
    }
  });

  test("is asked about a Namespace as it will be, or as it is when it goes", () => {
    for (const [operation, value] of [
      ["CREATE", "object"],
      ["UPDATE", "object"],
      ["DELETE", "namespace"],
    ] as const) {
      const asked = { resource: "namespaces", operation, object: labelled("Namespace", { of: "object" }) };
      assert.equal(outcome({ ...asked, namespaceSelector: of(value) }), "match", operation);
      const other = value === "object" ? "namespace" : "object";
      assert.equal(outcome({ ...asked, namespaceSelector: of(other) }), "no", operation);
    }
  });
});

test("an objectSelector is asked about the objects that there are", () => {
  const without: LabelSelector = { matchExpressions: [{ key: "a", operator: "DoesNotExist" }] };
  const [yes, no] = [labelled("Pod", {}), labelled("Pod", { a: "1" })];
  for (const [object, oldObject, expected] of [
    [yes, undefined, "match"],
    [no, undefined, "no"],
    [undefined, yes, "match"],
    [undefined, no, "no"],
    [yes, no, "match"],
    [no, yes, "match"],
    [no, no, "no"],
    [undefined, undefined, "no"],
  ] as const)
    assert.equal(outcome({ object, oldObject, objectSelector: without }), expected);
});

test("of equivalents that are not all known none is no answer", () => {
  const knowing = (equivalents: unknown): FileResources =>
    Object.assign(new FileResources([]), { equivalents: () => equivalents });
  const asked = { group: "x.example", resource: "widgets", version: "v2" };
  assert.equal(outcome({ ...asked, resources: knowing([]) }), "no");
  assert.equal(outcome({ ...asked, resources: knowing(new SomeEquivalents([])) }), "error");
  assert.equal(outcome({ ...asked, ruleGroup: "*", resources: knowing(new SomeEquivalents([])) }), "no");
});

test("a scope is that of the resource: a Namespace is in none, though its requests name one", () => {
  for (const [resource, scope] of [
    ["pods", "Namespaced"],
    ["namespaces", "Cluster"],
  ] as const) {
    assert.equal(outcome({ resource, scope }), "match", resource);
    assert.equal(outcome({ resource, scope: scope === "Cluster" ? "Namespaced" : "Cluster" }), "no", resource);
  }
});

test("a raw payload is the object of a request of which nothing else is known", () => {
  const nothing = { group: "", version: "" };
  const { kind, resource, operation, namespace, name, object } = attributesOfRaw("payload");
  assert.deepEqual(
    { kind, resource, operation, namespace, name, object },
    {
      ...{ kind: { ...nothing, kind: "" }, resource: { ...nothing, resource: "" } },
      ...{ operation: "", namespace: "", name: "", object: "payload" },
    },
  );
});
