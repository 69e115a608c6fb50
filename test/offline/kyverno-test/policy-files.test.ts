import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { policy, resource, rule, runSuite, validating } from "./suite.js";

const PODS = [resource("Pod", "good"), resource("Pod", "bad")];
const POLICY = policy(validating("object.metadata.name == 'good'"));
const RESULTS = { results: [{ policy: "p", result: "pass", resources: ["good"] }] };
const PASSED = ["v1/Pod/default/good: Pass Ok: success"];

const run = (policies: unknown, more: Readonly<Record<string, unknown>> = {}) =>
  runSuite({ ...RESULTS, ...more }, { "policy.yaml": policies, "resources.yaml": PODS });

/** What the reference says between loading policies and resources. */
const said = (out: string): string => /policies \.\.\.\n([\s\S]*) {2}Loading resources/.exec(out)?.[1] ?? "";

describe("policies of a test", () => {
  test("stand beside documents that are none of Kyverno's, which are said", async () => {
    const { rows, out } = await run([
      POLICY,
      { apiVersion: "foo.io/v1", kind: "Foo", metadata: { name: "x" } },
      { a: 1 },
    ]);
    assert.deepEqual(rows, PASSED);
    assert.equal(
      said(out),
      `  ERROR: DIR/policy.yaml: failed to parse document (failed to retrieve validator: failed to locate OpenAPI spec for GV: foo.io/v1)
  ERROR: DIR/policy.yaml: failed to parse document (GVK cannot be empty)
`,
    );
  });

  test("may stand in lists, where nothing spoils the file", async () => {
    const { rows, out } = await run({ apiVersion: "v1", kind: "List", items: [POLICY, PODS[0]] });
    assert.deepEqual(rows, PASSED);
    assert.equal(
      said(out),
      "  ERROR: DIR/policy.yaml: failed to process List item 1: policy type not supported /v1, Kind=Pod\n",
    );
  });

  test("are read document by document: one that is no YAML leaves the others", async () => {
    const { rows, out } = await run(`${JSON.stringify(POLICY)}\n---\na: [\n`);
    assert.deepEqual(rows, PASSED);
    assert.match(said(out), /^ {2}ERROR: DIR\/policy\.yaml: failed to parse document \(failed to parse yaml: .*\)\n$/);
  });

  test("of a file that holds another object of the cluster end the run", async () => {
    const { passed, err, rows } = await run([POLICY, resource("Namespace", "x")]);
    assert.deepEqual([passed, rows], [false, []]);
    assert.equal(
      err,
      "Error: failed to run test (error: failed to load policies (failed to load file DIR/policy.yaml: policy type not supported /v1, Kind=Namespace))\n",
    );
  });

  test("with unknown fields end the run, with a hint for those of old designs", async () => {
    const { err } = await run(policy({ ...validating("true"), failureAction: "Enforce" }));
    const [hint, error] = err.split("\n");
    assert.match(hint ?? "", /^warning: DIR\/kyverno-test\.yaml: DIR\/policy\.yaml: .*validationActions/);
    assert.equal(
      error,
      "Error: failed to run test (error: failed to load policies (failed to load file DIR/policy.yaml: failed to parse document (spec.failureAction: Invalid value: value provided for unknown field)))",
    );
  });

  test("come from folders and what is below, JSON and hidden files among them", async () => {
    const { rows, out } = await runSuite(
      { ...RESULTS, policies: ["policies"] },
      {
        "resources.yaml": PODS,
        "policies/deep/p.yml": POLICY,
        "policies/.hidden/x.json": policy(validating("true"), { name: "other" }),
        "policies/notes.txt": "a: [",
      },
    );
    assert.deepEqual(rows, PASSED);
    assert.match(out, /Applying 2 policies to/);
    const spoilt = await runSuite(
      { ...RESULTS, policies: ["policies"] },
      { "resources.yaml": PODS, "policies/a/x.yaml": PODS[0] },
    );
    assert.match(
      spoilt.err,
      /\(failed to load DIR\/policies: failed to load DIR\/policies\/a: failed to load file DIR\/policies\/a\/x\.yaml: policy type not supported \/v1, Kind=Pod\)/,
    );
  });

  test("count with those that are not evaluated", async () => {
    const generating = {
      apiVersion: "policies.kyverno.io/v1",
      kind: "GeneratingPolicy",
      metadata: { name: "m" },
      spec: {},
    };
    const { out, rows } = await run([POLICY, generating]);
    assert.match(out, /Applying 2 policies to 2 resources with 0 exceptions/);
    assert.deepEqual(rows, PASSED);
  });

  test("that do not compile end the run", async () => {
    const { err, out } = await run(policy(validating("foo")));
    assert.match(out, / {2}Applying 1 policy to 2 resources with 0 exceptions \.\.\.\n$/);
    assert.equal(
      err,
      `Error: failed to run test (failed to apply policies on resource good (failed to compile policy p ([<nil>: Internal error: validating policy compiler 1.0 error: failed to compile policy, spec.validations[0].expression: Invalid value: "foo": ERROR: <input>:1:1: undeclared reference to 'foo' (in container '')
 | foo
 | ^])))
`,
    );
  });

  test("of the same name are all compared with what is expected", async () => {
    const other = policy({ matchConstraints: { resourceRules: [rule("pods")] }, ...validating("false") });
    const { rows } = await run([POLICY, other]);
    assert.deepEqual(rows, [...PASSED, "v1/Pod/default/good: Fail Want pass, got fail: no"]);
  });
});

describe("what a test names", () => {
  test("must be there", async () => {
    for (const [fields, error] of [
      [{ policies: ["x.yaml"] }, "error: failed to load policies (stat DIR/x.yaml: no such file or directory)"],
      [{ resources: ["x.yaml"] }, "error: failed to load resources (stat DIR/x.yaml: no such file or directory)"],
      [
        { exceptions: ["x.yaml"] },
        "error: failed to load exceptions (unable to read yaml (open DIR/x.yaml: no such file or directory))",
      ],
      [
        { userinfo: "x.yaml" },
        "error: failed to load request info (unable to read yaml (unable to read yaml (open DIR/x.yaml: no such file or directory)))",
      ],
    ] as const) {
      const { err, passed } = await run(POLICY, fields);
      assert.equal(passed, false);
      assert.equal(err, `Error: failed to run test (${error})\n`);
    }
    const { err } = await run(POLICY, { variables: "x.yaml" });
    assert.match(
      err,
      /^Error: failed to run test \(failed to decode yaml \(unable to load variable file: .*x\.yaml \(open DIR\/x\.yaml: no such file/,
    );
  });

  test("as an exception must be one, of whatever group", async () => {
    const withException = (exception: unknown) =>
      runSuite(
        { ...RESULTS, exceptions: ["e.yaml"] },
        { "policy.yaml": POLICY, "resources.yaml": PODS, "e.yaml": exception },
      );
    const wrong = await withException(resource("Pod", "x"));
    assert.equal(
      wrong.err,
      "Error: failed to run test (error: failed to load exceptions (unable to load exceptions (failed to parse document (failed to retrieve validator: failed to locate OpenAPI spec for GV: v1))))\n",
    );
    const legacy = await withException({
      apiVersion: "kyverno.io/v2",
      kind: "PolicyException",
      metadata: { name: "e" },
      spec: {},
    });
    assert.deepEqual(legacy.rows, PASSED);
  });
});

describe("what is strict", () => {
  const strict = (reason: string) => `error unmarshaling JSON: while decoding JSON: json: ${reason}`;
  const HEAD = { apiVersion: "cli.kyverno.io/v1alpha1" };

  test("files with values, however deep a field is", async () => {
    const withValues = (values: unknown) =>
      runSuite(
        { ...RESULTS, variables: "v.yaml" },
        { "policy.yaml": POLICY, "resources.yaml": PODS, "v.yaml": values },
      );
    const file = { ...HEAD, kind: "Values" };
    const failed = (reason: string) =>
      `Error: failed to run test (failed to decode yaml (unable to load variable file: v.yaml (${strict(reason)})))\n`;
    const shallow = await withValues({ ...file, foo: 1 });
    assert.equal(shallow.err, failed('unknown field "foo"'));
    const metadata = { name: "default" };
    const deep = await withValues({ ...file, namespaces: [{ apiVersion: "v1", kind: "Namespace", metadata, foo: 1 }] });
    assert.equal(deep.err, failed('unknown field "foo"'));
    const outdated = await withValues({ namespaceSelector: [] });
    assert.match(outdated.err, /values file v\.yaml uses a deprecated schema — please migrate to the latest format/);
    assert.deepEqual((await withValues({ ...file, policies: [{ name: "p", rules: [{ name: "r" }] }] })).rows, PASSED);
  });

  test("values in the test file", async () => {
    const { out, err } = await run(POLICY, { values: { globalValues: {}, foo: 1 } });
    assert.ok(out.includes(`    Error: ${strict('unknown field "foo"')}\n`));
    assert.equal(err, "Error: found 1 errors after loading tests\n");
  });

  test("files with users, whose groups must be a list", async () => {
    const withUser = (user: unknown) =>
      runSuite({ ...RESULTS, userinfo: "u.yaml" }, { "policy.yaml": POLICY, "resources.yaml": PODS, "u.yaml": user });
    const file = { ...HEAD, kind: "UserInfo" };
    const unknown = await withUser({ ...file, userInfo: { username: "a", foo: 1 } });
    assert.ok(unknown.err.includes(`(failed to decode yaml (${strict('unknown field "foo"')}))`));
    const wrong = await withUser({ ...file, userInfo: { groups: "a" } });
    assert.match(wrong.err, /cannot unmarshal string into Go struct field .*groups of type \[\]string/);
    const outdated = await withUser({ userInfo: {} });
    assert.match(outdated.err, /\(userInfo file u\.yaml uses a deprecated schema/);
    assert.deepEqual((await withUser({ ...file, roles: ["r"], clusterRoles: ["c"] })).rows, PASSED);
  });
});
