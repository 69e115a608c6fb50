/** What cases can expect, and what is said when it is otherwise. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { testFolder } from "./support.js";

const { write, run } = testFolder();
const module = (name: string): string =>
  fileURLToPath(new URL(`../../../../policies/${name}/policy.wasm`, import.meta.url));
const POD = "{ apiVersion: v1, kind: Pod, metadata: { name: web } }";

write(
  "policies.yaml",
  `
owner:
  module: ${module("add-label")}
  allowedToMutate: true
  settings: { label: owner, value: shop }
names:
  cel:
    validations: [{ expression: "object.metadata.name != 'bad'", message: bad name, reason: Forbidden }]
    auditAnnotations: [{ key: seen, valueExpression: "string(object.metadata.name)" }]
only:
  cel:
    matchConditions: [{ name: pods, expression: "object.kind == 'Pod'" }]
    validations: [{ expression: "true" }]
warns:
  cel: { validations: [{ expression: "false", message: careful }] }
  validationActions: [Warn]
either:
  expression: "names() || only()"
  message: neither
  policies: { names: { policy: names }, only: { policy: only } }
`,
);

describe("expectations", () => {
  test("are met: outcome, message, code, reason, warnings, annotations, patch, object, members, settings", async () => {
    write("bad.json", '{ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "bad" } }');
    write("labelled.yaml", "{ apiVersion: v1, kind: Pod, metadata: { name: web, labels: { owner: shop } } }");
    const file = write(
      "met.test.yaml",
      `
cases:
  - { policy: owner, object: ${POD}, allowed: true, mutated: labelled.yaml, patch: [{ op: add, path: /metadata/labels, value: { owner: shop } }] }
  - { policy: owner, settings: { label: team, value: x }, object: ${POD}, mutated: { apiVersion: v1, kind: Pod, metadata: { name: web, labels: { team: x } } } }
  - { policy: owner, object: labelled.yaml, expect: allow, patch: [], mutated: labelled.yaml, warnings: [] }
  - { policy: owner, settings: {}, expect: refused, messageContains: label must be, messageMatches: "^Policy settings" }
  - { policy: owner, settings: { label: a, value: b }, expect: loads }
  - { policy: names, object: bad.json, allowed: false, code: 403, reason: Forbidden, messageMatches: "bad n.me$" }
  - { policy: names, object: ${POD}, expect: allow, auditAnnotations: { seen: web } }
  - { policy: only, raw: { kind: Other }, expect: skip, messageContains: pods }
  - { policy: warns, rawFile: bad.json, expect: allow, warnings: [careful] }
  - { policy: either, object: ${POD}, expect: allow, members: { names: allow, only: not evaluated } }
  - { policy: either, object: bad.json, expect: allow, members: { names: deny, only: allow } }
  - { policy: names, object: ${POD}, oldObject: bad.json, operation: UPDATE, expect: allow }
`,
    );
    assert.deepEqual(await run(file), { code: 0, out: "12 passed, 0 failed\n", err: "" });
  });

  test("are not met: each with its place, what was expected, and what came", async () => {
    const file = write(
      "unmet.test.yaml",
      `cases:
  - policy: owner
    object: ${POD}
    mutated: { apiVersion: v1, kind: Pod, metadata: { name: other, labels: { owner: shop, team: a } } }
    patch: []
    warnings: [careful]
  - { policy: owner, settings: {}, expect: loads }
  - { policy: owner, settings: { label: a, value: b }, expect: refused }
  - { policy: only, settings: {}, object: ${POD}, expect: allow }
  - { policy: nams, object: ${POD}, expect: allow }
  - { policy: names, object: { apiVersion: v1, kind: Pod, metadata: { name: bad } }, expect: deny, code: 500, reason: Invalid, messageMatches: "^good" }
  - { policy: either, object: ${POD}, expect: allow, members: { only: allow } }
  - { policy: names, object: ${POD}, allowed: false }
`,
    );
    const { code, out, err } = await run(file);
    assert.deepEqual([code, err], [1, ""]);
    assert.deepEqual(out.replaceAll("unmet.test.yaml:", "").split("\n"), [
      "FAIL 2:5: case 1 (owner)",
      "  4:5: mutated: the object is another one",
      '    /metadata/labels/team: expected "a", got nothing',
      '    /metadata/name: expected "other", got "web"',
      '  5:5: patch: expected [], got [{"op":"add","path":"/metadata/labels","value":{"owner":"shop"}}]',
      '  6:5: warnings: expected ["careful"], got []',
      "FAIL 7:5: case 2 (owner)",
      "  7:36: expected that it loads, got: Policy settings are invalid: label must be a text that is not empty",
      "FAIL 8:5: case 3 (owner)",
      "  8:56: expected that the settings are refused, and they were taken",
      "FAIL 9:5: case 4 (only)",
      "  9:7: policy: settings are for modules, and 'only' of policies.yaml is none",
      "FAIL 10:5: case 5 (nams)",
      "  10:7: policy: there is no policy 'nams' (did you mean \"names\"?) in policies.yaml",
      "FAIL 11:5: case 6 (names)",
      "  11:100: code: expected 500, got 403",
      '  11:111: reason: expected "Invalid", got "Forbidden"',
      '  11:128: messageMatches: expected a message that matches "^good", got "bad name"',
      "FAIL 12:5: case 7 (either)",
      "  12:102: members: only: expected allow, got not evaluated",
      "FAIL 13:5: case 8 (names)",
      "  13:86: allowed: expected false, got true (allow)",
      "0 passed, 8 failed",
      "",
    ]);
  });

  test("a module that is not there has not refused its settings", async () => {
    const file = write("absent.test.yaml", "module: none.wasm\ncases: [{ settings: {}, expect: refused }]\n");
    const { code, out } = await run(file);
    assert.equal(code, 1);
    assert.match(out, /^FAIL absent\.test\.yaml:2:9: .*\n {2}\S+ policy: the policy could not be loaded: .*none\.wasm/);
  });

  test("are told as JSON, with the places, the differences and the coverage", async () => {
    const file = write("json.test.yaml", `policy: names\ncases: [{ name: a, object: ${POD}, expect: deny }]\n`);
    const { code, out } = await run(file, "-o", "json", "--min-coverage", "90");
    assert.equal(code, 1);
    const { cases, coverage, ...counts } = JSON.parse(out);
    assert.deepEqual(counts, { passed: 0, failed: 1 });
    const [{ milliseconds, ...only }] = cases;
    assert.equal(typeof milliseconds, "number");
    assert.deepEqual(only, {
      file: "json.test.yaml",
      line: 2,
      column: 9,
      name: "a",
      policy: "names",
      passed: false,
      failures: [
        {
          file: "json.test.yaml",
          line: 2,
          column: 84,
          key: "expect",
          message: "expected deny, got allow",
          details: [],
        },
      ],
    });
    assert.deepEqual(Object.keys(coverage), ["covered", "total", "percent", "minimum", "missing", "gaps"]);
    assert.equal(coverage.gaps[0].message, "is never false");
  });
});

describe("a policy that only the test file has", () => {
  test("is named by its address from there, with what an entry of policies.yaml may say", async () => {
    write(
      "own/policy.yaml",
      "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: { name: v }\nspec:\n  matchConstraints: { resourceRules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'] }] }\n  validations: [{ expression: 'object.metadata.name != \"bad\"' }]\n",
    );
    const file = write(
      "own/a.test.yaml",
      `resource: policy.yaml\npolicyMode: monitor\ncases: [{ object: ../bad.json, allowed: true, expect: deny }]\n`,
    );
    assert.deepEqual(await run(file), { code: 0, out: "1 passed, 0 failed\n", err: "" });
    const inline = write(
      "own/b.test.yaml",
      `cel: { validations: [{ expression: "object.a == 1" }] }\ncases: [{ raw: { a: 1 }, expect: allow }]\n`,
    );
    assert.deepEqual((await run(inline, "--coverage")).out.replaceAll("own/", "").split("\n"), [
      "1 passed, 0 failed",
      "cel: spec.validations[0].expression: is never false",
      "coverage: 1 of 2 (50.0 %)",
      "",
    ]);
  });

  test("fails its cases where it can't be loaded, and says why", async () => {
    const file = write("none.test.yaml", `module: none.wasm\ncases: [{ object: ${POD}, expect: error }]\n`);
    assert.match((await run(file)).out, /none.test.yaml:1:1: policy: the policy could not be loaded: .*none.wasm/);
    const wrong = write(
      "wrong.test.yaml",
      `module: a.wasm\npolicyMode: maybe\ncases: [{ object: ${POD}, expect: error }]\n`,
    );
    assert.match((await run(wrong)).out, /wrong.test.yaml:1:1: policy: policyMode: expected one of protect, monitor/);
  });
});
