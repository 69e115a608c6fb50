import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { policy, resource, rule, runSuite, validating } from "./suite.js";

const NAMED_GOOD = validating("object.metadata.name == 'good'");
const PODS = [resource("Pod", "good"), resource("Pod", "bad")];
const expected = (result: string, ...resources: string[]) => ({
  policy: "p",
  result,
  ...(resources.length > 0 && { resources }),
});

/** The rows of one expected result. */
async function rowsOf(spec: Readonly<Record<string, unknown>>, resources: readonly unknown[], result: string) {
  const { rows } = await runSuite(
    { results: [expected(result)] },
    { "policy.yaml": policy(spec), "resources.yaml": resources },
  );
  return rows;
}

describe("a test's policies are asked about its resources", () => {
  test("names that no resource has stand for all of them (spec 10.3, 72)", async () => {
    const { rows, passed } = await runSuite(
      { results: [expected("pass", "typo")] },
      { "policy.yaml": policy(NAMED_GOOD), "resources.yaml": PODS },
    );
    assert.equal(passed, false);
    assert.deepEqual(rows, [
      "v1/Pod/default/good: Pass Ok: success",
      "v1/Pod/default/bad: Fail Want pass, got fail: no",
    ]);
  });

  test("a failure that is not scored is a warning (73)", async () => {
    const annotations = { "policies.kyverno.io/scored": "false" };
    const { rows } = await runSuite(
      { results: [expected("warn", "bad"), expected("fail", "bad")] },
      { "policy.yaml": policy(NAMED_GOOD, { annotations }), "resources.yaml": PODS },
    );
    assert.deepEqual(rows, ["v1/Pod/default/bad: Pass Ok: no", "v1/Pod/default/bad: Fail Want fail, got warn: no"]);
  });

  test("a false match condition is the skip that was expected (74)", async () => {
    const spec = { ...NAMED_GOOD, matchConditions: [{ name: "c", expression: "false" }] };
    assert.deepEqual(await rowsOf(spec, [PODS[0]], "skip"), ["v1/Pod/default/good: Pass Ok: skip"]);
  });

  test("simple constraints that do not match leave nothing behind (75); others exclude the resource", async () => {
    const services = { matchConstraints: { resourceRules: [rule("services")] }, ...NAMED_GOOD };
    assert.deepEqual(await rowsOf(services, [PODS[0]], "skip"), ["v1/Pod/default/good: Fail Not found"]);
    const named = { matchConstraints: { resourceRules: [{ ...rule("pods"), resourceNames: ["x"] }] }, ...NAMED_GOOD };
    assert.deepEqual(await rowsOf(named, [PODS[0]], "fail"), ["v1/Pod/default/good: Pass Excluded"]);
    const chosen = { resourceRules: [rule("services")], objectSelector: { matchLabels: { a: "b" } } };
    assert.deepEqual(await rowsOf({ matchConstraints: chosen, ...NAMED_GOOD }, [PODS[0]], "fail"), [
      "v1/Pod/default/good: Pass Excluded",
    ]);
    const excluded = { resourceRules: [rule("services")], excludeResourceRules: [rule("pods")] };
    assert.deepEqual(await rowsOf({ matchConstraints: excluded, ...NAMED_GOOD }, [PODS[0]], "fail"), [
      "v1/Pod/default/good: Pass Excluded",
    ]);
    const two = { resourceRules: [rule("services"), rule("secrets")] };
    assert.deepEqual(await rowsOf({ matchConstraints: two, ...NAMED_GOOD }, [PODS[0]], "fail"), [
      "v1/Pod/default/good: Pass Excluded",
    ]);
  });

  test("a policy for Pods is one for their controllers, in one row each", async () => {
    const spec = validating("object.spec.hostNetwork != true");
    const template = { metadata: {}, spec: { hostNetwork: true } };
    const deployment = resource("Deployment", "d", { spec: { template } }, "apps/v1");
    const job = resource("CronJob", "c", { spec: { jobTemplate: { spec: { template } } } }, "batch/v1");
    const service = resource("Service", "s");
    assert.deepEqual(await rowsOf(spec, [deployment, job, service], "fail"), [
      "apps/v1/Deployment/default/d: Pass Ok: no",
      "batch/v1/CronJob/default/c: Pass Ok: no",
      "v1/Service/default/s: Pass Excluded",
    ]);
    const some = { ...spec, autogen: { podControllers: { controllers: ["deployments"] } } };
    assert.deepEqual(await rowsOf(some, [deployment, service], "fail"), [
      "apps/v1/Deployment/default/d: Pass Ok: no",
      "v1/Service/default/s: Fail Not found",
    ]);
  });

  test("a document that is no policy for an action that there is not is passed over (76)", async () => {
    const { rows, out } = await runSuite(
      { results: [expected("fail", "bad")] },
      {
        "policy.yaml": policy({ ...NAMED_GOOD, validationActions: ["Enforce"] }),
        "resources.yaml": PODS,
      },
    );
    assert.deepEqual(rows, ["v1/Pod/default/bad: Fail Not found"]);
    assert.match(
      out,
      /\n {2}ERROR: DIR\/policy\.yaml: failed to validate resource \(ValidatingPolicy\.policies\.kyverno\.io "p" is invalid: spec\.validationActions\[0\]: Unsupported value: "Enforce"/,
    );
    assert.match(out, /\n {2}Applying 0 policies to 2 resources with 0 exceptions \.\.\.\n/);
  });

  test("Namespaces are those of the values (77)", async () => {
    const files = {
      "policy.yaml": policy(validating("namespaceObject.metadata.labels['team'] == 'a'")),
      "resources.yaml": [
        PODS[0],
        resource("Namespace", "default", { metadata: { name: "default", labels: { team: "a" } } }),
      ],
    };
    const results = [expected("pass", "good")];
    assert.deepEqual((await runSuite({ results }, files)).rows, [
      "v1/Pod/default/good: Fail Want pass, got error: error: no such key: metadata",
    ]);
    const namespaceSelector = [{ name: "default", labels: { team: "a" } }];
    assert.deepEqual((await runSuite({ results, values: { namespaceSelector } }, files)).rows, [
      "v1/Pod/default/good: Pass Ok: success",
    ]);
    const variables = { apiVersion: "cli.kyverno.io/v1alpha1", kind: "Values", namespaceSelector };
    const fromFile = await runSuite({ results, variables: "values.yaml" }, { ...files, "values.yaml": variables });
    assert.deepEqual(fromFile.rows, ["v1/Pod/default/good: Pass Ok: success"]);
  });

  test("the operation is that of the result, of the values, or CREATE; CONNECT is one, too (78)", async () => {
    const asked = "request.operation + (has(object.metadata) ? ' new' : '') + (has(oldObject.metadata) ? ' old' : '')";
    const files = {
      "policy.yaml": policy({ validations: [{ expression: "false", messageExpression: asked }] }),
      "resources.yaml": [PODS[0]],
    };
    const globalValues = (operation: string) => ({ globalValues: { "request.operation": operation } });
    const operations = ["CREATE", "UPDATE", "DELETE"].map((operation) => ({ ...expected("fail"), operation }));
    const { rows } = await runSuite(
      { results: [expected("fail"), ...operations], values: globalValues("DELETE") },
      files,
    );
    assert.deepEqual(rows, [
      "v1/Pod/default/good: Pass Ok: DELETE old",
      "v1/Pod/default/good: Pass Ok: CREATE new",
      "v1/Pod/default/good: Pass Ok: UPDATE new old",
      "v1/Pod/default/good: Pass Ok: DELETE old",
    ]);
    const connect = await runSuite({ results: [expected("fail")], values: globalValues("CONNECT") }, files);
    assert.deepEqual(connect.rows, ["v1/Pod/default/good: Pass Ok: CREATE new"]);
    const wrong = await runSuite({ results: [{ ...expected("fail"), operation: "CONNECT" }] }, files);
    assert.equal(
      wrong.err,
      'Error: failed to run test (invalid test result for policy p: invalid operation "CONNECT", must be one of CREATE, UPDATE, DELETE)\n',
    );
    const foo = await runSuite({ results: [expected("fail")], values: globalValues("FOO") }, files);
    assert.match(foo.err, /\(invalid request\.operation value "FOO", must be one of CREATE, UPDATE, DELETE, CONNECT\)/);
  });

  test("numbers are doubles in objects", async () => {
    const spec = {
      matchConstraints: { resourceRules: [{ ...rule("deployments"), apiGroups: ["apps"] }] },
      validations: [{ expression: "object.spec.replicas == 3" }, { expression: "object.spec.replicas % 2 == 1" }],
    };
    assert.deepEqual(await rowsOf(spec, [resource("Deployment", "d", { spec: { replicas: 3 } }, "apps/v1")], "error"), [
      "apps/v1/Deployment/default/d: Pass Ok: error: no such overload: _%_",
    ]);
  });

  test("requests are made by the user of a file", async () => {
    const userInfo = { username: "alice", groups: ["dev"] };
    const { rows, out } = await runSuite(
      { results: [expected("pass", "good")], userinfo: "user.yaml" },
      {
        "policy.yaml": policy(validating("request.userInfo.username == 'alice' && 'dev' in request.userInfo.groups")),
        "resources.yaml": PODS,
        "user.yaml": { apiVersion: "cli.kyverno.io/v1alpha1", kind: "UserInfo", userInfo },
      },
    );
    assert.deepEqual(rows, ["v1/Pod/default/good: Pass Ok: success"]);
    assert.match(out, /variables \.\.\.\n {2}Loading user infos \.\.\.\n {2}Loading policies \.\.\.\n/);
  });

  test("exceptions exempt; those that have expired do not, with a warning, unlike with Kyverno (66)", async () => {
    const suite = (expiresAt: string) =>
      runSuite(
        { results: [expected("skip", "bad")], exceptions: ["exception.yaml"] },
        {
          "policy.yaml": policy(NAMED_GOOD),
          "resources.yaml": PODS,
          "exception.yaml": {
            apiVersion: "policies.kyverno.io/v1",
            kind: "PolicyException",
            metadata: { name: "e", namespace: "ns" },
            spec: { policyRefs: [{ kind: "ValidatingPolicy", name: "p" }], expiresAt },
          },
        },
      );
    const { rows, out } = await suite("2026-01-01T00:00:01Z");
    assert.deepEqual(rows, ["v1/Pod/default/bad: Pass Ok: rule is skipped due to policy exception: ns/e [exception]"]);
    assert.match(out, /Applying 1 policy to 2 resources with 1 exception \.\.\./);
    const expired = await suite("2025-12-31T23:59:59Z");
    assert.deepEqual(expired.rows, ["v1/Pod/default/bad: Fail Want skip, got fail: no"]);
    assert.match(
      expired.err,
      /^warning: DIR\/kyverno-test\.yaml: PolicyException ns\/e has expired \(2025-12-31T23:59:59Z\)/,
    );
  });

  test("namespaced policies are found by their name alone, and look everywhere", async () => {
    const namespaced = { ...policy(NAMED_GOOD, { namespace: "team-a" }), kind: "NamespacedValidatingPolicy" };
    const { rows } = await runSuite(
      { results: [{ policy: "team-a/p", result: "fail", resources: ["bad"] }, expected("fail", "bad")] },
      { "policy.yaml": namespaced, "resources.yaml": PODS },
    );
    assert.deepEqual(rows, ["v1/Pod/default/bad: Pass Ok: no", "v1/Pod/default/bad: Pass Ok: no"]);
  });

  test("a resource that stands twice counts once", async () => {
    const { rows, out } = await runSuite(
      { results: [expected("fail", "bad")] },
      { "policy.yaml": policy(NAMED_GOOD), "resources.yaml": [...PODS, resource("Pod", "bad")] },
    );
    assert.equal(rows.length, 1);
    assert.match(out, /\n {2}warning: found duplicated resource Pod bad default\n/);
  });
});

describe("payloads", () => {
  const json = {
    evaluation: { mode: "JSON" },
    matchConstraints: { resourceRules: [rule("*")] },
    ...validating("object.n + 1.0 == 2.0"),
  };

  test("are for policies for JSON, which are asked about resources as well", async () => {
    const { rows, out } = await runSuite(
      { results: [expected("pass", "a.json"), expected("error", "good")], jsonPayloads: ["./a.json"] },
      { "policy.yaml": policy(json), "resources.yaml": PODS, "a.json": { n: 1 } },
    );
    assert.deepEqual(rows, ["/a.json: Pass Ok: success", "v1/Pod/default/good: Pass Ok: error: no such key: n"]);
    assert.match(out, /Loading resources \.\.\.\n {2}Loading JSON payloads \.\.\.\n {2}Loading exceptions/);
  });

  test("have doubles in JSON and integers in YAML (69)", async () => {
    const { rows } = await runSuite(
      { results: [expected("error", "a.json"), expected("pass", "b.yaml")], jsonPayloads: ["a.json", "b.yaml"] },
      {
        "policy.yaml": policy({ ...json, ...validating("object.n + 1 == 2") }),
        "a.json": { n: 1 },
        "b.yaml": "n: 1\n",
      },
    );
    assert.deepEqual(rows, ["/a.json: Pass Ok: error: no such overload", "/b.yaml: Pass Ok: success"]);
  });

  test("are maps (68)", async () => {
    const run = (payload: unknown) =>
      runSuite(
        { results: [expected("pass")], jsonPayload: "a.json" },
        { "policy.yaml": policy(json), "a.json": JSON.stringify(payload) },
      );
    assert.match((await run([1])).err, /error: JSON payload .*a\.json must be a top-level object \(map\)/);
    assert.match((await run(null)).err, /error: JSON payload .*a\.json is empty or nil/);
  });
});

describe("ValidatingAdmissionPolicies", () => {
  const admission = (kind: string, name: string, spec: unknown) => ({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind,
    metadata: { name },
    spec,
  });
  const constraints = { resourceRules: [rule("pods")] };

  test("are evaluated with what they are bound to, and exclude what they are not for", async () => {
    const vap = admission("ValidatingAdmissionPolicy", "v", {
      paramKind: { apiVersion: "v1", kind: "ConfigMap" },
      matchConstraints: constraints,
      validations: [{ expression: "object.metadata.name == params.data.name", message: "another name" }],
    });
    const binding = admission("ValidatingAdmissionPolicyBinding", "b", {
      policyName: "v",
      validationActions: ["Deny"],
      paramRef: { name: "cm", namespace: "default", parameterNotFoundAction: "Deny" },
    });
    const cm = resource("ConfigMap", "cm", { metadata: { name: "cm", namespace: "default" }, data: { name: "good" } });
    const results = [
      { policy: "v", result: "pass", resources: ["good"] },
      { policy: "v", result: "fail", resources: ["bad", "s"] },
      { policy: "p", result: "pass", resources: ["good"] },
    ];
    const { rows, out, err } = await runSuite(
      { results, paramResources: ["param.yaml"] },
      {
        "policy.yaml": [vap, binding, policy(NAMED_GOOD)],
        "resources.yaml": [...PODS, resource("Service", "s")],
        "param.yaml": cm,
      },
    );
    assert.equal(
      err,
      "Error: DIR/kyverno-test.yaml: the policy v does not match v1/Service/default/s: expected fail\n",
      "Kyverno's table has it as a pass",
    );
    assert.deepEqual(rows, [
      "v1/Pod/default/good: Pass Ok:  [v]",
      "v1/Pod/default/bad: Pass Ok: another name [v]",
      "v1/Service/default/s: Pass Excluded",
      "v1/Pod/default/good: Pass Ok: success",
    ]);
    assert.match(out, /Applying 2 policies to 3 resources/);
  });

  test("that cannot be loaded are errors, and never pass", async () => {
    const vap = admission("ValidatingAdmissionPolicy", "v", {
      matchConstraints: constraints,
      validations: [{ expression: "foo" }],
    });
    const results = [{ policy: "v", result: "pass", resources: ["good"] }];
    const { rows, passed, err } = await runSuite({ results }, { "policy.yaml": vap, "resources.yaml": PODS });
    assert.equal(passed, false);
    assert.match(rows[0] ?? "", /^v1\/Pod\/default\/good: Fail Want pass, got error/);
    assert.match(err, /undeclared reference to 'foo'/);
  });
});

describe("what is not evaluated here", () => {
  test("fails: policies of other kinds", async () => {
    const cleanup = { apiVersion: "kyverno.io/v2", kind: "CleanupPolicy", metadata: { name: "old" }, spec: {} };
    const results = [{ policy: "old", rule: "r", result: "pass", resources: ["good"] }];
    const { rows, passed, out } = await runSuite({ results }, { "policy.yaml": [cleanup], "resources.yaml": PODS });
    assert.equal(passed, false);
    assert.deepEqual(rows, [
      "v1/Pod/default/good: Fail Not served: policies of the kind CleanupPolicy are not evaluated here [r]",
    ]);
    assert.match(out, /Applying 1 policy to 2 resources/);
  });

  test("fails: CertificateRequestPolicies, which have test files of our own", async () => {
    const policy = {
      apiVersion: "policy.cert-manager.io/v1alpha1",
      kind: "CertificateRequestPolicy",
      metadata: { name: "crp" },
      spec: { selector: { issuerRef: {} } },
    };
    const results = [{ policy: "crp", result: "pass", resources: ["good"] }];
    const { rows, passed } = await runSuite({ results }, { "policy.yaml": [policy], "resources.yaml": PODS });
    assert.equal(passed, false);
    assert.deepEqual(rows, [
      "v1/Pod/default/good: Fail Not served: policies of the kind CertificateRequestPolicy are not evaluated here",
    ]);
  });
});
