import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { runCommandLine } from "../../src/cli/command-line.js";

const folder = mkdtempSync(join(tmpdir(), "test-command-"));
after(() => rmSync(folder, { recursive: true }));
const write = (name: string, content: string): string => {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
};

const policies = write(
  "policies.yaml",
  `
limits:
  cel:
    matchConditions:
      - { name: workloads, expression: "object.kind == 'Deployment'" }
    variables:
      - { name: replicas, expression: "object.spec.?replicas.orValue(1)" }
    validations:
      - expression: "variables.replicas < 5 && (object.metadata.name != 'db' || variables.replicas == 1)"
        messageExpression: "'too many replicas: ' + string(variables.replicas)"
advice:
  cel:
    validations: [{ expression: "has(object.metadata.labels)", message: "labels help" }]
  validationActions: [Warn]
any:
  expression: "limits() || advice()"
  message: "nothing holds"
  policies: { limits: { policy: limits }, advice: { policy: advice } }
`,
);

const deployment = (name: string, replicas: number): string =>
  `{ apiVersion: apps/v1, kind: Deployment, metadata: { name: ${name} }, spec: { replicas: ${replicas} } }`;

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const code = await runCommandLine(["test", ...args, "--policies", policies], {
    env: {},
    stdin: Readable.from([]),
    stdout,
    stderr,
  });
  stdout.end();
  stderr.end();
  return { code, out: await text(stdout), err: await text(stderr) };
}

describe("test", () => {
  test("passes when every case is as expected, whatever the policy's kind", async () => {
    const file = write(
      "good.test.yaml",
      `
policy: limits
cases:
  - { name: few, object: ${deployment("web", 2)}, expect: allow }
  - { name: many, object: ${deployment("web", 9)}, expect: deny, message: "too many replicas: 9" }
  - { name: broken, object: ${deployment("web", 2).replace("2", "x")}, expect: error, messageContains: no such overload }
  - { name: other, object: { apiVersion: v1, kind: Pod, metadata: { name: x } }, expect: skip, messageContains: workloads }
  - { name: warned, policy: advice, object: ${deployment("web", 1)}, expect: warn, message: labels help }
  - { name: group, policy: any, object: ${deployment("web", 1)}, expect: allow }
  - { name: raw, policy: advice, raw: { metadata: { labels: {} } }, expect: allow }
`,
    );
    assert.deepEqual(await run(file), { code: 0, out: "7 passed, 0 failed\n", err: "" });
  });

  test("takes requests as AdmissionReviews and as kwctl does, without one around them", async () => {
    const request = `uid: u, kind: {group: apps, version: v1, kind: Deployment}, resource: {group: apps, version: v1, resource: deployments}, operation: CREATE, userInfo: {}, object: ${deployment("web", 9)}`;
    const file = write(
      "requests.test.yaml",
      `
policy: limits
cases:
  - { name: review, request: { request: { ${request} } }, expect: deny }
  - { name: bare, request: { ${request} }, expect: deny, message: "too many replicas: 9" }
`,
    );
    assert.deepEqual(await run(file), { code: 0, out: "2 passed, 0 failed\n", err: "" });
    const neither = write(
      "neither.test.yaml",
      "policy: limits\ncases: [{ name: neither, request: { a: 1 }, expect: deny }]\n",
    );
    assert.match((await run(neither)).err, /missing field `request`/);
  });

  test("says what differs, and writes it as JUnit", async () => {
    const file = write(
      "bad.test.yaml",
      `
policy: limits
cases:
  - { name: "a <b>", object: ${deployment("web", 9)}, expect: allow }
  - { name: text, object: ${deployment("web", 9)}, expect: deny, message: other }
  - { name: unknown, policy: nobody, raw: 1, expect: allow }
  - { name: quiet, object: ${deployment("web", 1)}, expect: warn }
`,
    );
    const junit = join(folder, "results.xml");
    const { code, out } = await run(file, "--junit", junit);
    assert.equal(code, 1);
    assert.deepEqual(
      out.split("\n").map((line) => line.replaceAll(`${folder}/`, "")),
      [
        "FAIL bad.test.yaml:4:5: a <b> (limits)",
        "  bad.test.yaml:4:121: expected allow, got deny: too many replicas: 9",
        "FAIL bad.test.yaml:5:5: text (limits)",
        '  bad.test.yaml:5:132: message: expected the message "other", got "too many replicas: 9"',
        "FAIL bad.test.yaml:6:5: unknown (nobody)",
        "  bad.test.yaml:6:22: policy: there is no policy 'nobody' in policies.yaml",
        "FAIL bad.test.yaml:7:5: quiet (limits)",
        "  bad.test.yaml:7:119: expected a warning, got allow without one",
        "0 passed, 4 failed",
        "",
      ],
    );
    const xml = readFileSync(junit, "utf8");
    assert.match(xml, /tests="4" failures="4"/);
    assert.match(xml, /name="a &lt;b&gt;".*\n.*<failure message="expected allow, got deny: too many replicas: 9"\/>/);
  });

  test("names the expressions and branches that no case reached", async () => {
    const file = write("some.test.yaml", `policy: limits\ncases: [{ object: ${deployment("web", 2)}, expect: allow }]`);
    const { code, out } = await run(file, "--coverage", "--min-coverage", "90");
    assert.equal(code, 1);
    assert.deepEqual(out.replaceAll(`${policies}:`, "").split("\n").slice(1), [
      "5:40: limits: spec.matchConditions[0].expression: is never false",
      "9:21: limits: spec.validations[0].expression: is never false",
      "9:78: limits: spec.validations[0].expression: the right side of || is never reached",
      "13:33: advice: spec.validations[0].expression: is never evaluated",
      "coverage: 5 of 10 (50.0 %): 90 % must be reached, 4 more of the places above",
      "",
    ]);
    const more = write(
      "more.test.yaml",
      `policy: limits\ncases:\n${[
        `{ object: ${deployment("web", 2)}, expect: allow }`,
        `{ object: ${deployment("web", 9)}, expect: deny }`,
        `{ object: ${deployment("db", 1)}, expect: allow }`,
        "{ object: { apiVersion: v1, kind: Pod, metadata: { name: x } }, expect: skip }",
        "{ policy: advice, raw: {}, expect: error }",
        "{ policy: advice, raw: { metadata: {} }, expect: warn }",
        "{ policy: advice, raw: { metadata: { labels: {} } }, expect: allow }",
      ]
        .map((each) => `  - ${each}`)
        .join("\n")}`,
    );
    const full = await run(more, "--coverage", "--min-coverage", "100");
    assert.deepEqual(full, { code: full.code, out: full.out, err: "" });
    assert.match(full.out, /coverage: 10 of 10 \(100.0 %\)/);
  });

  test("refuses files that are no test files", async () => {
    for (const [name, content, said] of [
      ["a.yaml", "cases: 1", /a.yaml:1:8: cases: expected a list, found the number 1/],
      ["b.yaml", "cases: [{ expect: allow, raw: 1 }]", /b.yaml:1:9: cases\[0\]: says of no policy/],
      [
        "c.yaml",
        "policy: limits\ncases: [{ expect: maybe, raw: 1 }]",
        /c.yaml:2:19: cases\[0\].expect: expected one of/,
      ],
      [
        "d.yaml",
        "policy: limits\ncases: [{ expect: allow }]",
        /d.yaml:2:9: .*exactly one of object, csr, request, raw/,
      ],
      [
        "e.yaml",
        "policy: limits\ncases: [{ expect: allow, raw: 1, oject: 1 }]",
        /oject: unknown key \(did you mean "object"/,
      ],
      ["f.yaml", "policy: limits\ncases: [{ raw: 1 }]", /f.yaml:2:9: .*expects nothing/],
      [
        "g.yaml",
        "policy: limits\ncases: [{ raw: 1, expect: deny, messageMatches: '(' }]",
        /g.yaml:2:49: .*no regular expression/,
      ],
      ["h.yaml", "policy: a\nmodule: b\ncases: [{ raw: 1, expect: deny }]", /h.yaml:2:1: .*has policy and module/],
      ["i.yaml", "policy: a\ncases: [{ raw: 1, expect: refused }]", /i.yaml:2:11: .*about the settings/],
      ["j.yaml", "a: 1\n---\nb: 1", /j.yaml:3:1: a test file holds one document/],
      ["k.yaml", "", /expected a map with cases/],
      ["l.yaml", "policy: a\ncases: [{ object: none.yaml, expect: deny }]", /l.yaml:2:19: .*cannot read .*none.yaml/],
    ] as const) {
      const { code, err } = await run(write(name, content));
      assert.equal(code, 2);
      assert.match(err, said);
    }
    assert.match((await run(join(folder, "none.yaml"))).err, /cannot read/);
  });
});

describe("test, with files in Kyverno's format", () => {
  const HEAD = "apiVersion: cli.kyverno.io/v1alpha1\nkind: Test\npolicies: [policy.yaml]\nresources: [pods.yaml]\n";
  const POLICY = {
    apiVersion: "policies.kyverno.io/v1",
    kind: "ValidatingPolicy",
    metadata: { name: "p" },
    spec: {
      matchConstraints: {
        resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }],
      },
      validations: [{ expression: "object.metadata.name == 'good'", message: "no" }],
    },
  };
  const OWN = `policy: limits\ncases: [{ name: few, object: ${deployment("web", 2)}, expect: allow }]\n`;

  /** A folder with such a test, whose only row is as expected or not. */
  const suite = (name: string, result: string, more: Readonly<Record<string, string>> = {}): string => {
    const path = join(folder, name);
    mkdirSync(path);
    const files = {
      "policy.yaml": JSON.stringify(POLICY),
      "pods.yaml": "{ apiVersion: v1, kind: Pod, metadata: { name: good } }",
      "kyverno-test.yaml": `${HEAD}results: [{ policy: p, result: ${result} }]\n`,
      ...more,
    };
    for (const [file, content] of Object.entries(files)) writeFileSync(join(path, file), content);
    return path;
  };

  test("needs no policies.yaml for them, and exits by their rows", async () => {
    const none = ["--policies", join(folder, "nothing.yaml")];
    const good = await run(suite("good", "pass"), ...none);
    assert.deepEqual([good.code, good.err], [0, ""]);
    assert.match(good.out, /│ 1 {2}│ p {6}│ {6}│ v1\/Pod\/default\/good │ Pass {3}│ Ok {5}│\n/);
    const bad = await run(suite("bad", "fail"), ...none);
    assert.deepEqual([bad.code, bad.err], [1, "Error: 1 tests failed\n"]);
  });

  test("runs them beside our own: one summary each, and both must pass", async () => {
    const junit = join(folder, "both.xml");
    const both = suite("both", "pass", { "own.test.yaml": OWN });
    const passed = await run(both, "--junit", junit);
    assert.equal(passed.code, 0);
    assert.match(passed.out, /Test Summary: 1 tests passed and 0 tests failed\n\n1 passed, 0 failed\n$/);
    const xml = readFileSync(junit, "utf8");
    assert.match(xml, /classname="p" name="v1\/Pod\/default\/good"/);
    assert.match(xml, /classname="limits" name="few"/);
    const theirs = await run(suite("theirs", "fail", { "own.test.yaml": OWN }));
    assert.deepEqual([theirs.code, /1 passed, 0 failed/.test(theirs.out)], [1, true]);
    const ours = await run(suite("ours", "pass", { "own.test.yaml": OWN.replace("allow", "deny") }), "--junit", junit);
    assert.equal(ours.code, 1);
    assert.match(ours.out, /FAIL .*own\.test\.yaml:2:9: few/);
  });

  test("takes their name, in folders and by itself", async () => {
    const path = suite("named", "pass", { "x.yaml": `${HEAD}results: [{ policy: p, result: fail }]\n` });
    assert.equal((await run(path, "-f", "x.yaml")).code, 1);
    assert.equal((await run(join(path, "x.yaml"), "--file-name", "x.yaml", "-o", "json")).code, 1);
    const one = await run(join(path, "kyverno-test.yaml"), "-o", "json", "--detailed-results");
    assert.match(one.out, /"Message": "success"/);
  });

  test("without any test nothing was judged; for Kyverno's command that is fine, unless tests are required", async () => {
    const path = join(folder, "empty");
    mkdirSync(path);
    const err = `nothing was judged: there is no case and no row in ${path} (--allow-empty: exit 0 all the same)\n`;
    const out = "\nNo test yamls available\n";
    assert.deepEqual(await run(path), { code: 3, out, err });
    assert.deepEqual(await run(path, "--allow-empty"), { code: 0, out, err });
    assert.deepEqual(await run(path, "--compat", "kyverno"), { code: 0, out, err });
    assert.equal((await run(path, "--require-tests")).code, 3);
    const required = await run(path, "--require-tests", "--compat", "kyverno");
    assert.deepEqual([required.code, required.err], [1, `Error: no tests found\n${err}`]);
  });

  test("has colours on terminals, unless told not to", async () => {
    const path = suite("colored", "pass");
    const onTerminal = async (env: Record<string, string>, ...args: string[]): Promise<string> => {
      const stdout = Object.assign(new PassThrough(), { isTTY: true });
      const io = { env, stdin: Readable.from([]), stdout, stderr: new PassThrough() };
      await runCommandLine(["test", path, ...args], io);
      stdout.end();
      return text(stdout);
    };
    const green = "\u001b[32;1mPass\u001b[0m";
    assert.ok((await onTerminal({})).includes(green));
    for (const plain of [
      onTerminal({}, "--remove-color"),
      onTerminal({ NO_COLOR: "1" }),
      onTerminal({}, "-o", "json"),
      run(path).then(({ out }) => out),
    ]) {
      assert.ok(!(await plain).includes("\u001b"));
    }
  });

  test("that ends early is a failure in JUnit, too", async () => {
    const path = join(folder, "ends");
    mkdirSync(path);
    const file = write("ends/kyverno-test.yaml", "foo: bar\n");
    const junit = join(folder, "ends.xml");
    assert.equal((await run(path, "--junit", junit)).code, 2);
    assert.ok(readFileSync(junit, "utf8").includes(`name="${file}" tests="1" failures="1"`));
  });

  test("a policy that could not be loaded fails its cases, whatever they expect", async () => {
    const unloadable = write("unloadable.yaml", "gone: { module: file:///nowhere/gone.wasm }\n");
    const cases = write(
      "gone.test.yaml",
      `policy: gone\ncases:\n  - { object: ${deployment("a", 1)}, expect: error }\n`,
    );
    const stdout = new PassThrough();
    const io = { env: {}, stdin: Readable.from([]), stdout, stderr: new PassThrough() };
    assert.equal(await runCommandLine(["test", cases, "--policies", unloadable], io), 1);
    stdout.end();
    assert.match(await text(stdout), /\(gone\)\n.*policy: the policy could not be loaded: /);
  });

  test("the test files that come with this package pass", async () => {
    const path = fileURLToPath(new URL("../../../policies/kyverno", import.meta.url));
    const { code, out } = await run(path);
    assert.deepEqual([code, /Test Summary: 7 tests passed and 0 tests failed/.test(out)], [0, true]);
  });
});
