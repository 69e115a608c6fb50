import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Waiting } from "../../../src/cel/questions.js";
import { type MatchResult, matchRequest, prepareMatch } from "../../../src/kinds/shared/match/match-resources.js";
import { attributesOf } from "../../../src/kinds/shared/match/request-attributes.js";
import type { ResourceRule } from "../../../src/kinds/shared/match/resource-rule.js";
import { FileResources, type FileResourcesOptions } from "../../../src/world/resources/file-resources.js";
import { LookupFailure } from "../../../src/world/resources/resource-source.js";
import { requestWorldOver } from "../../support/worlds.js";

const rule = (version: string, more: Partial<ResourceRule & { group: string; resource: string }> = {}) => ({
  operations: ["*"],
  apiGroups: [more.group ?? "multi.example.com"],
  apiVersions: [version],
  resources: [more.resource ?? "widgets"],
  ...(more.resourceNames && { resourceNames: more.resourceNames }),
});
const gvr = (version: string, group = "multi.example.com", resource = "widgets") => ({ group, version, resource });
const gvk = (version: string, group = "multi.example.com", kind = "Widget") => ({ group, version, kind });

interface Asked {
  readonly rules?: readonly ResourceRule[];
  readonly excludes?: readonly ResourceRule[];
  readonly matchPolicy?: string;
  /** As addressed, and as the API server has converted it. */
  readonly request?: string;
  readonly converted?: string;
  readonly options?: FileResourcesOptions;
  readonly documents?: ConstructorParameters<typeof FileResources>[0];
}

function match({ rules = [rule("v1")], excludes = [], matchPolicy = "Equivalent", ...asked }: Asked): MatchResult {
  const { request = "v2", converted = request, options, documents = [] } = asked;
  const criteria = { namespaceSelector: {}, objectSelector: {}, resourceRules: rules, excludeResourceRules: excludes };
  const attributes = attributesOf({
    uid: "",
    kind: gvk(converted),
    resource: gvr(converted),
    requestKind: gvk(request),
    requestResource: gvr(request),
    operation: "CREATE",
    name: "w",
    userInfo: {},
    object: { apiVersion: `multi.example.com/${converted}`, kind: "Widget" },
  });
  return matchRequest(
    prepareMatch({ ...criteria, matchPolicy }),
    attributes,
    requestWorldOver(new FileResources(documents, options)),
  );
}

const outcome = (result: MatchResult): string => (result instanceof Waiting ? "waiting" : result.outcome);
const UNKNOWN = {
  outcome: "error",
  message:
    "cannot tell whether multi.example.com/v2 widgets are the same objects as multi.example.com/v1: " +
    "give the CustomResourceDefinition beside the policy or run with a cluster that serves them",
};
const crd = (...versions: readonly string[]) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.multi.example.com" },
  spec: {
    group: "multi.example.com",
    names: { plural: "widgets", kind: "Widget" },
    versions: versions.map((name) => ({ name, served: true })),
  },
});

test("an absent requestSubResource is the subResource, whatever else is there", () => {
  const pods = gvr("v1", "", "pods");
  const kind = gvk("v1", "", "PodExecOptions");
  const exec = { uid: "", kind, resource: pods, subResource: "exec", operation: "CONNECT", userInfo: {} };
  const original = { requestResource: pods, requestKind: kind };
  for (const more of [{}, original, { ...original, requestSubResource: "exec" }]) {
    assert.equal(attributesOf({ ...exec, ...more }).subresource, "exec", JSON.stringify(more));
  }
  assert.equal(attributesOf({ ...exec, ...original, requestSubResource: "attach" }).subresource, "attach");
  const criteria = {
    namespaceSelector: {},
    objectSelector: {},
    resourceRules: [rule("v1", { group: "", resource: "pods/exec" })],
  };
  const asked = attributesOf({ ...exec, ...original });
  assert.equal(outcome(matchRequest(prepareMatch(criteria), asked, requestWorldOver(new FileResources([])))), "match");
});

describe("a request in another version than the rule names", () => {
  test("matches when the API server has converted the object to it", () => {
    const asked = { converted: "v1" };
    assert.deepEqual(match(asked), { outcome: "match", resource: gvr("v1"), kind: gvk("v1") });
    assert.equal(outcome(match({ ...asked, matchPolicy: "Exact" })), "no");
    assert.equal(outcome(match({ ...asked, excludes: [rule("v1")] })), "no", "exclude rules see it too");
    assert.equal(outcome(match({ ...asked, rules: [rule("v1", { resourceNames: ["other"] })] })), "no");
    const both = { ...asked, rules: [rule("v2"), rule("v1")] };
    assert.deepEqual(match(both), match(asked), "its objects are at hand");
    const exact = match({ ...both, matchPolicy: "Exact" });
    assert.deepEqual(exact, { outcome: "match", resource: gvr("v2"), kind: gvk("v2") }, "what was addressed");
  });

  test("is an error that says what is missing when nobody knows the versions", () => {
    assert.deepEqual(match({}), UNKNOWN);
    assert.deepEqual(match({ rules: [rule("v1", { group: "*", resource: "*" })] }), UNKNOWN);
    assert.deepEqual(match({ excludes: [rule("v1")], rules: [rule("v2")] }), UNKNOWN);
  });

  test("is none of the rule's business unless all but the version fits", () => {
    assert.equal(outcome(match({ matchPolicy: "Exact" })), "no");
    for (const more of [{ group: "other.example" }, { resource: "gadgets" }, { resourceNames: ["other"] }]) {
      assert.equal(outcome(match({ rules: [rule("v1", more)] })), "no", JSON.stringify(more));
      assert.equal(
        outcome(match({ rules: [rule("v1", more)], excludes: [rule("v1")] })),
        "no",
        "nor of an exclude rule",
      );
    }
    const operations = [{ ...rule("v1"), operations: ["DELETE"] }];
    assert.equal(outcome(match({ rules: operations })), "no");
  });

  test("matches when a CustomResourceDefinition says so, and does not when it says otherwise", () => {
    assert.deepEqual(match({ documents: [crd("v1", "v2")] }), {
      outcome: "match",
      resource: gvr("v1"),
      kind: gvk("v1"),
    });
    assert.equal(outcome(match({ documents: [crd("v2")] })), "no");
  });

  test("asks whoever knows versions, and only then", () => {
    let asked = 0;
    const answering = (answer: LookupFailure | Promise<undefined>): FileResourcesOptions => ({
      versions: {
        equivalents: () => {
          asked++;
          return answer;
        },
      },
    });
    const failing = answering(new LookupFailure("forbidden"));
    assert.deepEqual(match({ options: failing }), { outcome: "error", message: "forbidden" });
    const claims = { group: "resource.k8s.io", resource: "resourceclaims" };
    const claim = attributesOf({
      uid: "",
      kind: gvk("v1beta1", claims.group, "ResourceClaim"),
      resource: gvr("v1beta1", claims.group, claims.resource),
      operation: "CREATE",
      userInfo: {},
    });
    const newer = prepareMatch({
      namespaceSelector: {},
      objectSelector: {},
      matchPolicy: "Equivalent",
      resourceRules: [rule("v2", claims)],
    });
    const found = matchRequest(newer, claim, requestWorldOver(new FileResources([], failing)));
    assert.deepEqual(found, { outcome: "error", message: "forbidden" }, "the table does not stand in");
    asked--;
    assert.equal(outcome(match({ options: answering(Promise.resolve(undefined)) })), "waiting");
    assert.equal(asked, 2);
    assert.equal(outcome(match({ options: failing, rules: [rule("v2")] })), "match");
    assert.equal(outcome(match({ options: failing, rules: [rule("v1", { resource: "gadgets" })] })), "no");
    assert.equal(asked, 2, "requests that the rules leave alone, or name, depend on nobody");
  });
});

test("a rule of several versions is named with all of them where nobody can tell", () => {
  const { message, ...result } = match({ rules: [{ ...rule("v1"), apiVersions: ["v1", "v3"] }] }) as {
    outcome: string;
    message: string;
  };
  assert.equal(result.outcome, "error");
  assert.match(message, / as multi\.example\.com\/v1 or multi\.example\.com\/v3: /);
});
