/** What `apply` prints and answers: texts and codes are those of Kyverno's command 1.19.1, run with the same files, unless a test says otherwise. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { runCommandLine } from "../../src/cli/command-line.js";

const rule = (resources: string) =>
  `matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [${resources}]}]}`;
const policy = (name: string, spec: string, more = "") =>
  `apiVersion: policies.kyverno.io/v1\nkind: ValidatingPolicy\nmetadata: {name: ${name}${more}}\nspec:\n  ${spec.replaceAll("\n", "\n  ")}\n`;

const FILES = {
  "owner.yaml": policy(
    "need-owner",
    `validationActions: [Audit]\n${rule("pods")}\nvalidations:\n- {expression: "has(object.metadata.labels)", message: set an owner}`,
  ),
  "more.yaml": [
    policy("errs", `${rule("namespaces")}\nvalidations: [{expression: "object.metadata.labels.x == 'y'"}]`),
    `apiVersion: policies.kyverno.io/v1beta1\nkind: NamespacedValidatingPolicy\nmetadata: {name: no-latest, namespace: team-a}\nspec:\n  ${rule("pods")}\n  validations: [{expression: "false"}]\n`,
    `apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: vap1}\nspec:\n  ${rule('"*"')}\n  validations: [{expression: "object.metadata.name != 'bad'", message: bad name}]\n`,
  ].join("---\n"),
  "broken.yaml": policy("broken", `${rule("pods")}\nvalidations: [{expression: object.spec.x}]`),
  "json.yaml": policy(
    "js",
    `evaluation: {mode: JSON}\n${rule('"*"')}\nvalidations: [{expression: "has(object.n) && object.n + 1.0 == 2.0", message: no n}]`,
  ),
  "old.yaml": "apiVersion: kyverno.io/v2\nkind: CleanupPolicy\nmetadata: {name: old}\nspec: {rules: []}\n",
  "resources.yaml":
    "apiVersion: v1\nkind: Pod\nmetadata: {name: good, namespace: team-a, labels: {a: b}}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: bad}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n",
  "twice.yaml":
    "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: {a: b}}\n",
  "exceptions.yaml":
    "apiVersion: policies.kyverno.io/v1\nkind: PolicyException\nmetadata: {name: e1, namespace: ns1}\nspec: {policyRefs: [{name: need-owner, kind: ValidatingPolicy}]}\n",
  "versionless.yaml": "kind: Pod\nmetadata: {name: a}\n",
  "kindless.yaml": "apiVersion: v1\nmetadata: {name: a}\n",
  "pol.json": "{}",
  ".hidden.yaml": "a: b",
  "pol.yaml.txt": "a: b",
  "payload.json": '{"n": 2}',
  "list.json": "[1]",
  "values.yaml": "apiVersion: v1\nkind: Values\nglobalValues: {request.operation: XX}\n",
  "unknown.yaml": "apiVersion: v1\nkind: Values\nfoo: {}\n",
  "policies.yaml":
    'no-bad:\n  cel:\n    validations: [{expression: "object.metadata.name != \'bad\'", message: "no"}]\nboth:\n  expression: "a() && a()"\n  message: both\n  policies: {a: {policy: no-bad}}\n',
  "lines.jsonl":
    '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p1"}}\n{"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"name":"p2"}}]}\n',
};

describe("apply", () => {
  let folder = "";
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "apply-"));
    for (const [name, content] of Object.entries(FILES)) writeFileSync(join(folder, name), content);
  });
  after(() => rmSync(folder, { recursive: true }));

  /** Kyverno's exit codes. */
  const apply = (args: readonly string[], stdin = "") => run(["--compat", "kyverno", ...args], stdin);

  async function run(args: readonly string[], stdin = "") {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const [out, err] = [text(stdout), text(stderr)];
    const paths = args.map((arg) => (arg in FILES ? join(folder, arg) : arg));
    const io = { env: {}, stdin: Readable.from([stdin]), stdout, stderr };
    const code = await runCommandLine(["apply", ...paths], io);
    stdout.end();
    stderr.end();
    return { code, out: (await out).replaceAll(`${folder}/`, ""), err: (await err).replaceAll(`${folder}/`, "") };
  }

  test("failures, and counts of everything", async () => {
    assert.deepEqual(await apply(["owner.yaml", "more.yaml", "--resource", "resources.yaml"]), {
      code: 1,
      out: `
Applying 4 policy rule(s) to 3 resource(s)...
policy no-latest -> resource team-a/Pod/good failed:
1 -  CEL expression validation failed at index 0
policy need-owner -> resource default/Pod/bad failed:
1 -  set an owner
policy no-latest -> resource default/Pod/bad failed:
1 -  CEL expression validation failed at index 0
policy vap1 -> resource default/Pod/bad failed:
1 - vap1 bad name

pass: 3, fail: 4, warn: 0, error: 1, skip: 0 
`,
      err: "Error: policy errs -> resource /Namespace/x could not be judged: error: no such key: labels\n",
    });
  });

  test("exceptions are counted, and exempt", async () => {
    const { code, out } = await apply(["owner.yaml", "-r", "resources.yaml", "-e", "exceptions.yaml"]);
    assert.equal(code, 0);
    assert.equal(
      out,
      "\nApplying 1 policy rule(s) to 3 resource(s) with 1 exception(s)...\n\npass: 0, fail: 0, warn: 0, error: 0, skip: 2 \n",
    );
  });

  test("audit warnings are words only", async () => {
    const { code, out } = await apply(["owner.yaml", "-r", "resources.yaml", "--audit-warn"]);
    assert.equal(code, 1);
    assert.match(out, /^policy need-owner -> resource default\/Pod\/bad failed as audit warning:$/m);
    assert.match(out, /fail: 1, warn: 0/);
  });

  test("a payload", async () => {
    const { code, out } = await apply(["json.yaml", "owner.yaml", "--json", "payload.json"]);
    assert.equal(code, 1);
    assert.equal(
      out,
      "\nApplying 2 policy rule(s) to 1 resource(s)...\npolicy js -> resource JSON payload failed:\n1 -  no n\n\npass: 0, fail: 1, warn: 0, error: 0, skip: 0 \n",
    );
  });

  test("a payload's policy is asked about resources, too", async () =>
    assert.match(
      (await apply(["json.yaml", "-r", "resources.yaml"])).out,
      /policy js -> resource \/Namespace\/x failed:/,
    ));

  const REFUSED: [string[], string][] = [
    [
      [],
      "require policy\n  name files or folders with policies, as in: policy-server apply policy.yaml --resource pod.yaml",
    ],
    [["owner.yaml"], "resource file(s) or cluster required"],
    [
      ["owner.yaml", "-r", "resources.yaml", "--json", "payload.json"],
      "both resource and json files can not be used together, use one or the other",
    ],
    [["-", "-r", "-"], "a stdin pipe can be used for either policies or resources, not both"],
    [
      ["owner.yaml", "-r", "resources.yaml", "-f", "values.yaml", "-s", "a=b"],
      "pass the values either using set flag or values_file flag",
    ],
    [
      ["owner.yaml", "-r", "resources.yaml", "--crd-paths", "x", "--kubeconfig", "y"],
      "crd-paths and kubeconfig flags are mutually exclusive, please use only one of them",
    ],
    [["owner.yaml", "-r", "nope.yaml"], "failed to load resources (stat nope.yaml: no such file or directory)"],
    [
      ["owner.yaml", "-r", "resources.yaml", "-f", "values.yaml"],
      'invalid request.operation value "XX", must be one of CREATE, UPDATE, DELETE, CONNECT',
    ],
    [
      ["owner.yaml", "-r", "resources.yaml", "-f", "unknown.yaml"],
      'failed to decode yaml (unable to load variable file: unknown.yaml (error unmarshaling JSON: while decoding JSON: json: unknown field "foo"))',
    ],
    [
      ["owner.yaml", "-r", "resources.yaml", "-e", "owner.yaml"],
      "Error: failed to load exceptions (unable to load exceptions (policy exception type not supported policies.kyverno.io/v1, Kind=ValidatingPolicy))",
    ],
    // The reference's command crashes.
    [["json.yaml", "--json", "list.json"], "error: JSON payload list.json must be a top-level object (map)"],
  ];
  for (const [args, message] of REFUSED) {
    test(`${args.join(" ") || "no argument"}: ${message.slice(0, 60)}`, async () =>
      assert.deepEqual(await apply(args), { code: 1, out: "", err: `Error: ${message}\n` }));
  }

  const NOT_COMPILED =
    'failed to compile policy broken ([<nil>: Internal error: validating policy compiler 1.0 error: failed to compile policy, spec.validations[0].expression: Invalid value: "object.spec.x": output is expected to be of type bool])';

  test("a resource that does not say what it is ends the run, with the name of its file", async () => {
    for (const [file, what] of Object.entries({ "versionless.yaml": "apiVersion", "kindless.yaml": "Kind" })) {
      const { code, err } = await apply(["owner.yaml", "-r", file]);
      assert.equal(code, 1);
      assert.ok(err.startsWith(`Error: failed to load resources (${file}: Object '${what}' is missing in '{`), err);
    }
  });

  test("policy files that are named are read, whatever their names", async () => {
    for (const file of ["pol.json", ".hidden.yaml", "pol.yaml.txt"]) {
      const { code, err } = await apply([file, "-r", "resources.yaml"]);
      assert.equal(code, 0, "as Kyverno's command");
      assert.equal(err, `Error: ${file} holds no policy\n`);
    }
  });

  test("JUnit and SARIF name policies that nothing was asked", async () => {
    for (const more of [[], ["--continue-on-fail"]]) {
      const { code, out } = await apply(["broken.yaml", "-r", "resources.yaml", "--junit", "-", ...more]);
      assert.equal(code, 1);
      assert.match(out, /<testsuite name="broken" tests="1" failures="0" errors="1"/);
      assert.match(out, /<error message="failed to compile policy broken/);
    }
    const { out } = await apply(["old.yaml", "-r", "resources.yaml", "--sarif", "-"]);
    assert.match(out, /"text": "not asked: CleanupPolicy old is of a kind that is not served"/);
  });

  test("a policy that does not compile ends the run", async () =>
    assert.deepEqual(await apply(["broken.yaml", "owner.yaml", "-r", "resources.yaml"]), {
      code: 1,
      out: "\nApplying 2 policy rule(s) to 3 resource(s)...\n",
      err: `Error: failed to apply policies on resource good (${NOT_COMPILED})\n`,
    }));

  test("or only itself, as the reference should: the others are asked, and it is still a failure", async () => {
    const args = ["broken.yaml", "owner.yaml", "-r", "resources.yaml", "-e", "exceptions.yaml", "--continue-on-fail"];
    const { code, out, err } = await apply(args);
    assert.equal(code, 1);
    assert.match(out, /pass: 0, fail: 0, warn: 0, error: 0, skip: 2/);
    assert.equal(err, `Error: ${NOT_COMPILED}\n`);
  });

  test("of a resource that comes twice the first one counts, where the reference crashes", async () => {
    const { code, out, err } = await apply(["owner.yaml", "-r", "twice.yaml"]);
    assert.equal(code, 1);
    assert.match(out, /pass: 0, fail: 1,/);
    assert.equal(
      err,
      "warning: found duplicated resource Pod a default\nError: Pod default/a stands twice with other contents in twice.yaml: only the first is judged\n",
    );
  });

  test("nothing to apply is said in so many words, and may have an exit code", async () => {
    const { code, out } = await apply(["nope.yaml", "-r", "resources.yaml", "--warn-no-pass", "--warn-exit-code", "3"]);
    assert.equal(code, 3);
    assert.equal(
      out,
      "\nApplying 0 policy rule(s) to 3 resource(s)...\n\npass: 0, fail: 0, warn: 0, error: 0, skip: 0 \nexit as no objects satisfied policy\n",
    );
  });

  test("a policy of a kind that is not served is no pass", async () => {
    const { code, err } = await apply(["old.yaml", "-r", "resources.yaml"]);
    assert.equal(code, 1);
    assert.equal(err, "Error: CleanupPolicy old is of a kind that is not served: nothing is checked with it\n");
  });

  test("policies come from standard input, resources as well, and lists are opened", async () => {
    assert.match((await apply(["-", "-r", "resources.yaml"], FILES["owner.yaml"])).out, /pass: 1, fail: 1,/);
    assert.match((await apply(["owner.yaml", "-r", "-"], FILES["resources.yaml"])).out, /to 3 resource\(s\)/);
    assert.match((await apply(["owner.yaml", "-r", "lines.jsonl"])).out, /Pod\/p1 failed.*Pod\/p2 failed/s);
  });

  test("policies of policies.yaml by their ids, groups among them", async () => {
    const { code, out } = await apply(["no-bad", "both", "-r", "resources.yaml", "--policies", "policies.yaml"]);
    assert.equal(code, 1);
    assert.match(out, /^policy no-bad -> resource default\/Pod\/bad failed:$/m);
    assert.match(out, /^policy both -> resource default\/Pod\/bad failed:\n1 - {2}both$/m);
    assert.match(out, /pass: 4, fail: 2,/);
    const unknown = await apply(["nobody", "-r", "resources.yaml", "--policies", "policies.yaml"]);
    assert.deepEqual([unknown.code, unknown.out], [1, ""]);
    assert.match(unknown.err, /^Error: unknown policy: nobody:/);
  });

  test("reports have neither headline nor counts", async () => {
    const { code, out } = await apply(["owner.yaml", "-r", "resources.yaml", "-p", "--output-format", "json"]);
    assert.equal(code, 1);
    const report = JSON.parse(out) as { kind: string; summary: unknown; results: { result: string }[] };
    assert.equal(report.kind, "ClusterReport");
    assert.deepEqual(report.summary, { pass: 1, fail: 1, warn: 0, error: 0, skip: 0 });
    assert.deepEqual(
      report.results.map(({ result }) => result),
      ["pass", "fail"],
    );
  });

  test("a table takes the place of failures and counts", async () => {
    const { out } = await apply(["owner.yaml", "-r", "resources.yaml", "--table", "--detailed-results"]);
    assert.equal(
      out,
      `
Applying 1 policy rule(s) to 3 resource(s)...
│────│────────────│──────│─────────────────│────────│────────│──────────────│
│ ID │ POLICY     │ RULE │ RESOURCE        │ RESULT │ REASON │ MESSAGE      │
│────│────────────│──────│─────────────────│────────│────────│──────────────│
│ 1  │ need-owner │      │ team-a/Pod/good │ Pass   │        │ success      │
│ 2  │ need-owner │      │ default/Pod/bad │ Fail   │        │ set an owner │
│────│────────────│──────│─────────────────│────────│────────│──────────────│
`,
    );
  });

  test("JUnit and SARIF may be all that is printed", async () => {
    assert.match((await apply(["owner.yaml", "-r", "resources.yaml", "--junit", "-"])).out, /^<\?xml/);
    const { out } = await apply(["owner.yaml", "-r", "resources.yaml", "--sarif", "-"]);
    assert.equal((JSON.parse(out) as { runs: { results: unknown[] }[] }).runs[0]?.results.length, 1);
  });
});
