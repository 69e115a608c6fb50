/** Rows of policies of the old language (ClusterPolicy, Policy): named by policy and rule, as Kyverno's command names them. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { convertPolicy } from "../../../src/kinds/kyverno/convert/index.js";
import type { JsonObject } from "../../../src/kubernetes/object.js";
import { resource, runSuite } from "./suite.js";

const PODS = { any: [{ resources: { kinds: ["Pod"] } }] };
const TAGS = {
  name: "tags",
  match: PODS,
  validate: { message: "no latest", pattern: { spec: { containers: [{ image: "!*:latest" }] } } },
};
const policy = (rules: readonly JsonObject[], spec: JsonObject = {}): JsonObject => ({
  apiVersion: "kyverno.io/v1",
  kind: "ClusterPolicy",
  metadata: { name: "p" },
  spec: { ...spec, rules },
});
const podSpec = { containers: [{ name: "a", image: "nginx:latest" }] };
const POD = { ...resource("Pod", "pod"), spec: podSpec };
const DEPLOYMENT = {
  ...resource("Deployment", "deployment"),
  apiVersion: "apps/v1",
  spec: { template: { spec: podSpec } },
};
const CRON = {
  ...resource("CronJob", "cron"),
  apiVersion: "batch/v1",
  spec: { jobTemplate: { spec: { template: { spec: podSpec } } } },
};
const expected = (rule: string, result: string, more: JsonObject = {}) => ({ policy: "p", rule, result, ...more });

describe("rows of the old language", () => {
  const files = { "policy.yaml": policy([TAGS]), "resources.yaml": [POD, DEPLOYMENT, CRON] };
  const rows = (rule: (kind: string) => string) => [
    `v1/Pod/default/pod: Pass Ok: validation error: no latest. rule tags failed at path /spec/containers/0/image/ [${rule("Pod")}]`,
    `apps/v1/Deployment/default/deployment: Pass Ok: validation error: no latest. rule tags failed at path /spec/containers/0/image/ [${rule("Deployment")}]`,
    `batch/v1/CronJob/default/cron: Pass Ok: validation error: no latest. rule tags failed at path /spec/containers/0/image/ [${rule("CronJob")}]`,
  ];
  const names: Readonly<Record<string, string>> = {
    Pod: "tags",
    Deployment: "autogen-tags",
    CronJob: "autogen-cronjob-tags",
  };

  test("name the rules that Kyverno makes for controllers", async () => {
    const found = await runSuite({ results: [expected("tags", "fail")] }, files);
    assert.deepEqual(
      found.rows,
      rows((kind) => names[kind] ?? ""),
    );
    assert.equal(found.passed, true);
  });

  test("are the same for the files that convert writes", async () => {
    const documents = convertPolicy(policy([TAGS])).rules.flatMap((rule) => rule.documents.map(({ value }) => value));
    assert.equal(documents.length, 1);
    const found = await runSuite({ results: [expected("tags", "fail")] }, { ...files, "policy.yaml": documents });
    assert.deepEqual(
      found.rows,
      rows((kind) => names[kind] ?? ""),
    );
  });

  test("are those of the expected rule alone", async () => {
    const other = { ...TAGS, name: "other", validate: { pattern: { metadata: { name: "?*" } } } };
    const found = await runSuite(
      { results: [expected("other", "pass")] },
      { "policy.yaml": policy([TAGS, other]), "resources.yaml": [POD] },
    );
    assert.deepEqual(found.rows, ["v1/Pod/default/pod: Pass Ok: validation rule 'other' passed. [other]"]);
    const unknown = await runSuite({ results: [expected("nope", "pass")] }, files);
    assert.match(unknown.rows.join(), /^v1\/Pod\/default\/pod: Pass Excluded/);
  });

  test("skip where preconditions do not hold, and are none where the rule does not match", async () => {
    const preconditions = { all: [{ key: "{{ request.object.metadata.name }}", operator: "Equals", value: "x" }] };
    const skips = policy([
      { ...TAGS, preconditions, match: { any: [{ resources: { kinds: ["Pod"], names: ["p*"] } }] } },
    ]);
    const found = await runSuite(
      { results: [expected("tags", "skip")] },
      { "policy.yaml": skips, "resources.yaml": [POD, { ...POD, metadata: { ...POD.metadata, name: "other" } }] },
    );
    assert.deepEqual(found.rows, [
      "v1/Pod/default/pod: Pass Ok: preconditions not met [tags]",
      "v1/Pod/default/other: Pass Excluded [tags]",
    ]);
  });

  test("are errors for a rule that is not converted, whatever its action", async () => {
    const signed = { name: "signed", match: PODS, verifyImages: [{ imageReferences: ["*"] }] };
    for (const validationFailureAction of ["Audit", "Enforce"]) {
      const found = await runSuite(
        { results: [expected("signed", "pass"), expected("tags", "fail")] },
        { "policy.yaml": policy([signed, TAGS], { validationFailureAction }), "resources.yaml": [POD] },
      );
      assert.match(found.rows[0] ?? "", /: Fail Want pass, got error: error: not converted: signatures .*\[signed\]$/);
      assert.match(found.rows[1] ?? "", /: Pass Ok/);
      assert.equal(found.passed, false);
      assert.match(found.err, /policy\.yaml: p: spec\.rules\[0\]\.verifyImages: not converted: /);
    }
  });

  test("count an error of a CEL rule as a failure, as Kyverno does", async () => {
    const cel = { ...TAGS, validate: { cel: { expressions: [{ expression: "object.spec.nope == 1" }] } } };
    const found = await runSuite(
      { results: [expected("tags", "fail")] },
      { "policy.yaml": policy([cel]), "resources.yaml": [POD] },
    );
    assert.deepEqual(found.rows, [
      "v1/Pod/default/pod: Pass Ok: expression 'object.spec.nope == 1' resulted in error: no such key: nope [tags]",
    ]);
  });
});

describe("what is given to policies of the old language", () => {
  const deny = (key: string, value: string, context?: readonly JsonObject[]) => ({
    ...TAGS,
    ...(context && { context }),
    validate: { message: "no", deny: { conditions: { all: [{ key, operator: "Equals", value }] } } },
  });
  const run = async (rule: JsonObject, more: JsonObject, result = "fail", files: Record<string, unknown> = {}) => {
    const found = await runSuite(
      { results: [expected("tags", result)], ...more },
      { ...files, "policy.yaml": policy([rule], { background: false }), "resources.yaml": [POD] },
    );
    return found.rows;
  };
  const CONFIG = [{ name: "config", configMap: { name: "c", namespace: "ns" } }];

  test("values of a rule stand in place of what its context looks up", async () => {
    const values = (name: string) => ({
      values: { policies: [{ name: "p", rules: [{ name, values: { "config.data.mode": "strict" } }] }] },
    });
    const rule = deny("{{ config.data.mode }}", "strict", CONFIG);
    assert.deepEqual(await run(rule, values("tags")), ["v1/Pod/default/pod: Pass Ok: no [tags]"]);
    assert.match((await run(rule, values("other"))).join(), /got error/);
    const globals = { values: { globalValues: { "config.data.mode": "strict", "request.operation": "CREATE" } } };
    assert.deepEqual(await run(rule, globals), ["v1/Pod/default/pod: Pass Ok: no [tags]"]);
  });

  test("a computed variable is computed all the same", async () => {
    const values = { values: { policies: [{ name: "p", rules: [{ name: "tags", values: { mode: "strict" } }] }] } };
    const rule = deny("{{ mode }}", "lax", [{ name: "mode", variable: { value: "lax" } }]);
    assert.deepEqual(await run(rule, values), ["v1/Pod/default/pod: Pass Ok: no [tags]"]);
    assert.deepEqual(await run(deny("{{ mode }}", "strict", []), values), ["v1/Pod/default/pod: Pass Ok: no [tags]"]);
  });

  test("an operation may be that of one policy and resource", async () => {
    const values = (name: string) => ({
      values: { policies: [{ name: "p", resources: [{ name, values: { "request.operation": "UPDATE" } }] }] },
    });
    const rule = deny("{{ request.operation }}", "UPDATE");
    assert.deepEqual(await run(rule, values("pod")), ["v1/Pod/default/pod: Pass Ok: no [tags]"]);
    assert.match((await run(rule, values("other"))).join(), /Want fail, got pass/);
  });

  test("roles are those of the user's file", async () => {
    const user = (clusterRoles: readonly string[]) => ({
      "user.yaml": {
        apiVersion: "cli.kyverno.io/v1alpha1",
        kind: "UserInfo",
        clusterRoles,
        userInfo: { username: "u" },
      },
    });
    const rule = { ...TAGS, exclude: { any: [{ clusterRoles: ["cluster-admin"] }] } };
    const more = { userinfo: "user.yaml" };
    assert.match((await run(rule, more, "fail", user(["cluster-admin"]))).join(), /Pass Excluded/);
    assert.match((await run(rule, more, "fail", user(["view"]))).join(), /Pass Ok: validation error/);
  });

  test("exceptions of the old language count", async () => {
    const exception = (ruleNames: readonly string[]) => ({
      "e.yaml": {
        apiVersion: "kyverno.io/v2",
        kind: "PolicyException",
        metadata: { name: "e", namespace: "ns" },
        spec: { exceptions: [{ policyName: "p", ruleNames }], match: PODS },
      },
    });
    const more = { exceptions: ["e.yaml"] };
    assert.match((await run(TAGS, more, "skip", exception(["tags"]))).join(), /Pass Ok: rule is skipped/);
    assert.match((await run(TAGS, more, "fail", exception(["autogen-tags"]))).join(), /Pass Ok: validation error/);
  });
});
