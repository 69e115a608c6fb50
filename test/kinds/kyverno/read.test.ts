/** Documents are read as the API server and Kyverno's command read them; their own answers are in documents.jsonl. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { parseJson } from "../../../src/data/json.js";
import { describeFailure, readResource, type UnreadableDocument } from "../../../src/kinds/kyverno/read.js";
import type { PolicyResource } from "../../../src/kinds/kyverno/resource.js";
import { formatPath } from "../../../src/kubernetes/field-error.js";

const policy = (spec: unknown, members: object = {}): object => ({
  apiVersion: "policies.kyverno.io/v1alpha1",
  kind: "ValidatingPolicy",
  metadata: { name: "p" },
  spec,
  ...members,
});

function unreadable(value: unknown): UnreadableDocument {
  const read = readResource(value);
  assert.equal(read.kind, "unreadable");
  return read as UnreadableDocument;
}

function resource(value: unknown): PolicyResource {
  const read = readResource(value);
  assert.ok(read.kind === "policy", JSON.stringify(read));
  return read.resource;
}

/** Mistakes of several members come in an order that changes from run to run. */
const sorted = (text: string): string => {
  const [, start, list] = /^(failed to validate resource \([^[]*? is invalid: )\[(.*)\]\)$/s.exec(text) ?? [];
  if (start === undefined || list === undefined) return text;
  return start + list.split(/, (?=(?:spec|metadata)[.:]|<nil>:)/).sort();
};

describe("documents", () => {
  const lines = readFileSync(new URL("../../../../test/vectors/kyverno/documents.jsonl", import.meta.url), "utf8")
    .trimEnd()
    .split("\n");
  for (const line of lines) {
    const { id, error, spec } = JSON.parse(line);
    test(`${id} is ${error === undefined ? "read" : "refused"} as the reference does`, () => {
      const read = readResource((parseJson(line) as { readonly doc: unknown }).doc);
      if (error !== undefined)
        assert.equal(sorted(unreadable((parseJson(line) as { readonly doc: unknown }).doc).text), sorted(error));
      else {
        assert.ok("resource" in read, JSON.stringify(read));
        assert.deepEqual(JSON.parse(JSON.stringify(read.resource.spec)), spec);
      }
    });
  }

  test("of all versions are read, but not a namespaced policy of the first", () => {
    for (const version of ["v1", "v1beta1", "v1alpha1"]) {
      assert.equal(readResource(policy({}, { apiVersion: `policies.kyverno.io/${version}` })).kind, "policy");
    }
    const namespaced = { kind: "NamespacedValidatingPolicy" };
    assert.equal(readResource(policy({}, { ...namespaced, apiVersion: "policies.kyverno.io/v1beta1" })).kind, "policy");
    const { failures } = unreadable(policy({}, namespaced));
    assert.deepEqual(
      failures.map(({ path, hint }) => [path, hint]),
      [[["apiVersion"], "use policies.kyverno.io/v1 instead"]],
    );
  });

  test("of the first design's group are refused, not overlooked", () => {
    const { failures } = unreadable(policy({}, { apiVersion: "kyverno.io/v1alpha1" }));
    assert.equal(failures[0]?.hint, "use policies.kyverno.io/v1 instead");
  });

  test("of other kinds are nobody's", () => {
    for (const other of [null, "x", [], {}, { kind: "ClusterPolicy", apiVersion: "kyverno.io/v1" }]) {
      assert.equal(readResource(other).kind, "other");
    }
    assert.equal(readResource({ apiVersion: "kyverno.io/v2", kind: "PolicyException", spec: {} }).kind, "other");
  });

  test("lose their nulls and get their defaults", () => {
    const spec = {
      evaluation: { background: {}, mode: null },
      variables: null,
      webhookConfiguration: { timeoutSeconds: Object(5) },
    };
    assert.deepEqual(resource(policy(spec)).spec, {
      evaluation: { background: { enabled: true } },
      webhookConfiguration: { timeoutSeconds: 5 },
    });
  });

  test("with an action of another kind of policies are refused, and told the right one", () => {
    const [failure] = unreadable(policy({ validationActions: ["Enforce"] })).failures;
    assert.ok(failure !== undefined);
    assert.equal(formatPath(failure.path), "spec.validationActions[0]");
    assert.equal(
      describeFailure(failure),
      'Unsupported value: "Enforce": supported values: "Deny", "Audit", "Warn": use "Deny" instead',
    );
    assert.equal(failure.unknownField, false);
  });

  test("with unknown members say all of them, and behind them what else is wrong", () => {
    const { failures, text } = unreadable(policy({ params: 1, validations: "x", b: { c: 1 } }, { metadata: {} }));
    assert.deepEqual(
      failures.map(({ path, unknownField }) => [formatPath(path), unknownField]),
      [
        ["spec.b", true],
        ["spec.params", true],
        ["metadata.name", false],
        ["spec.validations", false],
      ],
    );
    assert.equal(
      text,
      "failed to parse document (spec.b: Invalid value: value provided for unknown field\nspec.params: Invalid value: value provided for unknown field)",
    );
  });

  test("with an unknown member of the status are refused, too, as what tests of other tools assert", () => {
    const status = { conditionStatus: { "(conditions[?type == 'Ready'])": [] } };
    const { failures } = unreadable(policy(undefined, { status }));
    assert.deepEqual(
      failures.map(({ path, unknownField }) => [path.at(-1), unknownField]),
      [
        ["(conditions[?type == 'Ready'])", true],
        ["spec", false],
      ],
    );
    assert.equal(
      readResource(policy({}, { status: { conditionStatus: { ready: true }, generated: false } })).kind,
      "policy",
    );
  });

  test("cannot hide a member behind the name of an inherited one", () => {
    for (const key of ["constructor", "toString", "__proto__"]) {
      const spec = JSON.parse(`{"validations":[{"expression":"true"}],"${key}":{}}`);
      assert.equal(unreadable(policy(spec)).failures[0]?.unknownField, true, key);
    }
  });
});

describe("an ImageValidatingPolicy", () => {
  test("has its configurations by default, and may name things twice that others may not", () => {
    const spec = {
      attestors: [],
      validations: [],
      variables: [
        { name: "a", expression: "1" },
        { name: "a", expression: "2" },
      ],
    };
    for (const [kind, versions] of [
      ["ImageValidatingPolicy", ["v1", "v1beta1", "v1alpha1"]],
      ["NamespacedImageValidatingPolicy", ["v1", "v1beta1"]],
    ] as const) {
      for (const version of versions) {
        const read = readResource(policy(spec, { kind, apiVersion: `policies.kyverno.io/${version}` }));
        assert.ok(read.kind === "policy", JSON.stringify(read));
        const all = { mutateDigest: true, verifyDigest: true, required: true };
        assert.deepEqual(read.resource.spec.validationConfigurations, all);
      }
    }
    const some = readResource(
      policy({ ...spec, validationConfigurations: { required: false } }, { kind: "ImageValidatingPolicy" }),
    );
    assert.ok(some.kind === "policy");
    assert.equal(some.resource.spec.validationConfigurations?.verifyDigest, true);
    const old = { kind: "NamespacedImageValidatingPolicy", apiVersion: "policies.kyverno.io/v1alpha1" };
    assert.equal(readResource(policy(spec, old)).kind, "unreadable");
  });
});

describe("members of older designs", () => {
  const hints: readonly (readonly [spec: object, path: string, hint: RegExp])[] = [
    [{ failureAction: "Enforce" }, "spec.failureAction", /use spec\.validationActions instead: \[Deny\] for Enforce/],
    [{ failureActionOverrides: [] }, "spec.failureActionOverrides", /two policies/],
    [
      { webhookConfiguration: { failurePolicy: "Fail" } },
      "spec.webhookConfiguration.failurePolicy",
      /use spec\.failurePolicy/,
    ],
    [
      { webhookConfiguration: { matchConditions: [] } },
      "spec.webhookConfiguration.matchConditions",
      /use spec\.matchConditions/,
    ],
    [
      { webhookConfiguration: { matchPolicy: "Exact" } },
      "spec.webhookConfiguration.matchPolicy",
      /use spec\.matchConstraints\.matchPolicy/,
    ],
    [{ paramKind: {} }, "spec.paramKind", /resource\.Get\(\.\.\.\) or globalContext\.Get/],
    [{ images: [] }, "spec.images", /ImageValidatingPolicy/],
    [{ validation: [] }, "spec.validation", /did you mean "validations"/],
    [{ validations: [{ expression: "true", mesage: "m" }] }, "spec.validations[0].mesage", /did you mean "message"/],
  ];
  for (const [spec, path, hint] of hints) {
    test(`${path} gets a hint`, () => {
      const [failure] = unreadable(policy(spec)).failures;
      assert.ok(failure !== undefined);
      assert.equal(formatPath(failure.path), path);
      assert.match(describeFailure(failure), hint);
    });
  }

  test("of ImageValidatingPolicies get hints, too, and so do choices", () => {
    const images = (spec: object) => policy(spec, { kind: "ImageValidatingPolicy" });
    const first = (spec: object) => {
      const [failure] = unreadable(images({ attestors: [], validations: [], ...spec })).failures;
      assert.ok(failure !== undefined);
      return `${formatPath(failure.path)}: ${describeFailure(failure)}`;
    };
    assert.match(first({ verifyImages: [] }), /^spec\.verifyImages: .*use spec\.attestors and spec\.validations/);
    assert.match(first({ imageReferences: [] }), /use spec\.matchImageReferences/);
    assert.match(first({ mutateDigest: true }), /use spec\.validationConfigurations/);
    assert.match(
      first({ attestors: [{ name: "a" }] }),
      /^spec\.attestors\[0\]: .*: use exactly one of cosign and notary$/,
    );
    assert.match(first({ matchImageReferences: [{}] }), /exactly one of glob and expression$/);
    const key = { name: "a", cosign: { trustedRoot: {} } };
    assert.match(first({ attestors: [key] }), /cosign\.trustedRoot: .*: use exactly one of value and expression$/);
  });

  test("of exceptions get hints, too", () => {
    const exception = (spec: object): object => policy(spec, { kind: "PolicyException", metadata: { name: "e" } });
    const refs = { policyRefs: [{ name: "p", kind: "ValidatingPolicy" }] };
    assert.match(unreadable(exception({ ...refs, policyNames: [] })).failures[0]?.hint ?? "", /use spec\.policyRefs/);
    assert.match(unreadable(exception({ ...refs, matchConstraints: {} })).failures[0]?.hint ?? "", /matchConditions/);
  });
});
