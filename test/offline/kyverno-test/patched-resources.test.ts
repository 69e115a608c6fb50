/** `patchedResources` of Kyverno's test files: rows and reasons are those of its command. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { policy, resource, rule, runSuite, validating } from "./suite.js";

const MUTATING = {
  ...policy({
    matchConstraints: { resourceRules: [rule("pods")] },
    mutations: [
      {
        patchType: "ApplyConfiguration",
        applyConfiguration: { expression: 'Object{metadata: Object.metadata{labels: {"a": "1"}}}' },
      },
    ],
  }),
  kind: "MutatingPolicy",
};
const labelled = (name: string, labels: object = { a: "1" }) => ({
  ...resource("Pod", name),
  metadata: { name, namespace: "default", labels },
});
const PODS = [resource("Pod", "x"), resource("Pod", "y")];

const run = (patched: unknown, result: object = {}, policies: unknown = MUTATING) =>
  runSuite(
    { results: [{ policy: "p", result: "pass", patchedResources: "patched.yaml", ...result }] },
    { "policy.yaml": policies, "resources.yaml": PODS, ...(patched !== undefined && { "patched.yaml": patched }) },
  );

describe("resources after mutations", () => {
  test("are those that are expected, but for what is empty and labels of generated objects", async () => {
    const rows = ["v1/Pod/default/x: Pass Ok: success", "v1/Pod/default/y: Pass Ok: success"];
    assert.deepEqual((await run([labelled("x"), labelled("y")])).rows, rows);
    const loose = { ...labelled("x", { a: "1", "generate.kyverno.io/x": "y" }), status: {} };
    assert.deepEqual(
      (await run([loose, labelled("y", { a: "1", "app.kubernetes.io/managed-by": "kyverno" })])).rows,
      rows,
    );
  });

  test("that differ fail, with the steps from the expected ones", async () => {
    const { passed, rows } = await run([labelled("x", { a: "2", b: "3" }), labelled("y")]);
    assert.equal(passed, false);
    assert.match(rows[0] ?? "", /^v1\/Pod\/default\/x: Fail Resource diff: Patched resource didn't match .*: /);
    assert.match(rows[0] ?? "", /replace \/metadata\/labels\/a "1"/);
    assert.match(rows[0] ?? "", /remove \/metadata\/labels\/b/);
    assert.equal(rows[1], "v1/Pod/default/y: Pass Ok: success");
  });

  test("that no file has are in no row, unless they must be there", async () => {
    assert.deepEqual((await run([labelled("x")])).rows, ["v1/Pod/default/x: Pass Ok: success"]);
    const missing = await run([labelled("x")], { failOnMissingResources: true });
    assert.match(missing.rows[1] ?? "", /y: Fail Resource error: .*resource with name y not found in manifest/);
    const unread = await run(undefined);
    assert.match(unread.rows[0] ?? "", /x: Fail Resource error: error: failed to load PatchedResources resource \(/);
  });

  test("are what policies that judge are asked about, in the same run", async () => {
    const judging = { ...policy(validating("object.metadata.?labels.a.orValue('') == '1'"), { name: "j" }) };
    const results = [{ policy: "j", result: "pass" }];
    const files = { "resources.yaml": PODS };
    const { rows } = await runSuite({ results }, { ...files, "policy.yaml": [judging, MUTATING] });
    assert.deepEqual(
      rows.map((row) => row.replace(/:.*/, "")),
      ["v1/Pod/default/x", "v1/Pod/default/y"],
    );
    assert.equal((await runSuite({ results }, { ...files, "policy.yaml": judging })).passed, false);
  });

  test("come of MutatingAdmissionPolicies first, then of MutatingPolicies", async () => {
    const native = {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "MutatingAdmissionPolicy",
      metadata: { name: "native" },
      spec: {
        matchConstraints: { resourceRules: [{ ...rule("pods"), operations: ["CREATE"] }] },
        reinvocationPolicy: "Never",
        mutations: [
          {
            patchType: "JSONPatch",
            jsonPatch: { expression: '[JSONPatch{op: "add", path: "/metadata/labels", value: {"a": "0", "b": "0"}}]' },
          },
        ],
      },
    };
    const expected = [labelled("x", { a: "1", b: "0" }), labelled("y", { a: "1", b: "0" })];
    const { rows } = await run(expected, { policy: "native", isMutatingAdmissionPolicy: true }, [MUTATING, native]);
    assert.deepEqual(rows, [
      "v1/Pod/default/x: Pass Ok: mutation is successfully applied [native]",
      "v1/Pod/default/y: Pass Ok: mutation is successfully applied [native]",
    ]);
  });

  test("of policies about existing objects are not served", async () => {
    const targets = { ...MUTATING, spec: { ...MUTATING.spec, targetMatchConstraints: {} } };
    const { rows } = await run([labelled("x")], {}, targets);
    assert.match(rows[0] ?? "", /Fail Not served: policies that change existing objects are not served/);
  });
});
