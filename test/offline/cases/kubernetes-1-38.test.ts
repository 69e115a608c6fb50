/** What Kubernetes 1.38 decides, and stores (spec kubernetes-1-38.md 1). */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { parseJson, stringifyJson } from "../../../src/data/json.js";
import { createServer } from "../../../src/kinds/admission-policy/server.js";
import { createMutationCompilers } from "../../../src/kinds/mutating-admission-policy/compilers.js";
import { createExpressionCompiler } from "../../../src/kinds/validating-admission-policy/index.js";
import type { JsonObject } from "../../../src/kubernetes/object.js";
import { bundledSchemas } from "../../../src/kubernetes/structured-merge/merge-schemas.js";
import { decideCase as decideMutating } from "../../../src/offline/cases/mutating-admission-policy/case.js";
import { decideCase } from "../../../src/offline/cases/validating-admission-policy/case.js";
import { validateCase } from "../../../src/offline/cases/validating-admission-policy/static-case.js";

const compiler = createExpressionCompiler("1.38");
const tools = { compilers: createMutationCompilers("1.38"), schemas: bundledSchemas() };
const server = createServer("1.38", createExpressionCompiler);

const ANSWERS: Readonly<Record<string, (written: JsonObject) => unknown>> = {
  vap: (written) => decideCase(written, compiler),
  map: (written) => decideMutating(written, tools),
  "vap-static": (written) => validateCase(written, server),
};

const file = (name: string): URL => new URL(`../../../../test/vectors/kubernetes-1.38/${name}.jsonl`, import.meta.url);

for (const [name, answer] of Object.entries(ANSWERS)) {
  describe(`Kubernetes 1.38: ${name}`, () => {
    for (const line of readFileSync(file(name), "utf8").trimEnd().split("\n")) {
      const { id, result, changed: _, ...written } = parseJson(line) as JsonObject & { readonly result: unknown };
      test(String(id), () => {
        assert.deepEqual(JSON.parse(stringifyJson(answer(written))), JSON.parse(stringifyJson(result)));
      });
    }
  });
}

describe("a binding that was broken before", () => {
  const binding = (spec: object) => ({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name: "b", resourceVersion: "1" },
    spec,
  });
  const errors = (old: object, spec: object, version: "1.37" | "1.38" = "1.38") => {
    const answer = validateCase(
      { object: binding(spec), old: binding(old) },
      createServer(version, createExpressionCompiler),
    );
    return answer.valid ? [] : (answer.errors ?? []);
  };

  test("may stay so since 1.38, in each member by itself", () => {
    assert.deepEqual(errors({}, {}), []);
    assert.deepEqual(errors({}, { policyName: "p" }), []);
    assert.deepEqual(errors({ policyName: "p" }, {}), ["spec.policyName: Required value"]);
    assert.deepEqual(errors({ validationActions: ["Deny"] }, {}), ["spec.validationActions: Required value"]);
    assert.equal(errors({}, {}, "1.37").length, 2);
  });
});
