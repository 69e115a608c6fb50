/** What is refused when exceptions and context entries are created; the released program's own answers are in documents.jsonl. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { parseJson } from "../../../src/data/json.js";
import { checkContextEntry } from "../../../src/kinds/kyverno/check-context-entry.js";
import { exceptionErrors } from "../../../src/kinds/kyverno/prepare-documents.js";
import { readResource } from "../../../src/kinds/kyverno/read.js";
import type { ContextEntryResource, ExceptionResource } from "../../../src/kinds/kyverno/resource.js";
import { formatFieldError } from "../../../src/kubernetes/field-error.js";

const exception = (spec: ExceptionResource["spec"]): readonly string[] =>
  exceptionErrors({ apiVersion: "policies.kyverno.io/v1", kind: "PolicyException", metadata: { name: "e" }, spec }).map(
    formatFieldError,
  );
const entry = (spec: ContextEntryResource["spec"]): ContextEntryResource => ({
  apiVersion: "kyverno.io/v2",
  kind: "GlobalContextEntry",
  metadata: { name: "g" },
  spec,
});
const REFS = { policyRefs: [{ name: "p", kind: "ValidatingPolicy" }] };

describe("checks at creation", () => {
  test("say what the released program says", () => {
    const file = new URL("../../../../test/vectors/kyverno/documents.jsonl", import.meta.url);
    let checked = 0;
    for (const line of readFileSync(file, "utf8").trimEnd().split("\n")) {
      const { id, error, check = [] } = JSON.parse(line);
      const read = readResource((parseJson(line) as { readonly doc: unknown }).doc);
      if (error !== undefined || (read.kind !== "exception" && read.kind !== "context-entry")) continue;
      checked += 1;
      const errors = read.kind === "exception" ? exceptionErrors(read.resource) : checkContextEntry(read.resource);
      const expected = check.filter((text: string) => !text.includes("SyntaxError"));
      assert.deepEqual(errors.map(formatFieldError), expected, id);
    }
    assert.ok(checked > 120);
  });
});

describe("an exception", () => {
  test("names a policy by name and kind", () => {
    assert.deepEqual(exception({}), ["spec.policyRefs: Invalid value: []: must specify at least one policy ref"]);
    assert.deepEqual(exception({ policyRefs: [{}] }), [
      'spec.policyRefs[0].name: Invalid value: "": must specify policy name',
      'spec.policyRefs[0].kind: Invalid value: "": must specify policy kind',
    ]);
    assert.deepEqual(exception(REFS), []);
  });

  test("has conditions that know nothing of the policies that it names", () => {
    const conditions = (...expressions: readonly string[]): readonly string[] =>
      exception({ ...REFS, matchConditions: expressions.map((expression, i) => ({ name: `c${i}`, expression })) });
    assert.deepEqual(
      conditions("object.metadata.name == 'x' && request.object != null && has(namespaceObject.metadata)"),
      [],
    );
    for (const text of [
      "variables.a == 1",
      "exceptions.allowedImages == []",
      "isImage('x')",
      "resource.Get('v1') == 1",
    ]) {
      assert.match(conditions(text)[0] ?? "", /undeclared reference/, text);
    }
    assert.deepEqual(conditions("object.x"), [
      'spec.matchConditions[0].expression: Invalid value: "object.x": output is expected to be of type bool',
    ]);
    assert.deepEqual(conditions(" \u0085"), ["spec.matchConditions[0].expression: Required value"]);
  });

  test("has at most 64 conditions, each with a name of its own", () => {
    const many = Array.from({ length: 65 }, (_, i) => ({ name: `c${i}`, expression: "true" }));
    assert.deepEqual(exception({ ...REFS, matchConditions: many }), [
      "spec.matchConditions: Too many: 65: must have at most 64 items",
    ]);
    const twice = [many[0] ?? {}, many[0] ?? {}, { expression: "true" }];
    assert.deepEqual(exception({ ...REFS, matchConditions: twice }), [
      'spec.matchConditions[1].name: Duplicate value: "c0"',
      "spec.matchConditions[2].name: Required value",
    ]);
  });
});

describe("a context entry", () => {
  test("has a resource or a call", () => {
    const both = {
      kubernetesResource: { version: "v1", resource: "pods" },
      apiCall: { urlPath: "/x", refreshInterval: "10m" },
    };
    const wrong = [
      "spec.kubernetesResource: Forbidden: A global context entry should either have KubernetesResource or APICall",
    ];
    assert.deepEqual(checkContextEntry(entry(both)).map(formatFieldError), wrong);
    assert.deepEqual(checkContextEntry(entry({})).map(formatFieldError), wrong);
  });

  test("is refreshed now and then", () => {
    for (const refreshInterval of ["0s", "0", ""]) {
      assert.match(
        checkContextEntry(entry({ apiCall: { urlPath: "/x", refreshInterval } }))
          .map(formatFieldError)
          .join(),
        /^spec\.apiCall\.refreshIntervalSeconds: Required value/,
      );
    }
  });

  test("has projections whose paths can be read", () => {
    const spec = {
      kubernetesResource: { version: "v1", resource: "pods" },
      projections: [{ name: "a", jmesPath: "b." }],
    };
    assert.deepEqual(checkContextEntry(entry(spec)), []);
    assert.deepEqual(checkContextEntry(entry(spec), () => "SyntaxError: x").map(formatFieldError), [
      'spec.projections[0].jmesPath: Invalid value: "b.": SyntaxError: x',
    ]);
  });
});
