import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, test } from "node:test";
import type { Answers } from "../../../src/offline/kyverno-test/answers.js";
import { findTestFiles } from "../../../src/offline/kyverno-test/find-files.js";
import { type Evaluate, runTestFiles, type TestRunOptions } from "../../../src/offline/kyverno-test/run.js";
import { TestRunError } from "../../../src/offline/kyverno-test/run-error.js";

const folder = mkdtempSync(join(tmpdir(), "kyverno-test-"));
after(() => rmSync(folder, { recursive: true }));
const write = (name: string, content: string): string => {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
};

const HEAD = "apiVersion: cli.kyverno.io/v1alpha1\nkind: Test\n";
const pod = (name: string, result: string, message: string) => ({
  subject: { apiVersion: "v1", kind: "Pod", namespace: "default", name },
  answers: [{ policy: "need-owner", result: { result, rule: "", message } }],
});
const ANSWERS: Answers = {
  usual: [pod("good", "pass", "success"), pod("bad", "fail", "set an owner")],
  byOperation: new Map(),
  notServed: new Map(),
  patched: new Map(),
};
const evaluate: Evaluate = async (_, { say }) => {
  say("  Loading policies ...");
  return ANSWERS;
};

async function run(paths: readonly string[], options: Partial<TestRunOptions> = {}, how = evaluate) {
  let out = "";
  let err = "";
  const output = { out: (text: string) => (out += text), err: (text: string) => (err += text) };
  const { passed, rows } = await runTestFiles(paths, { color: false, now: () => 0, ...options }, how, output);
  return { passed, out: out.replaceAll(folder, "DIR"), err: err.replaceAll(folder, "DIR"), rows };
}

const RESULTS = `results:
  - { policy: need-owner, kind: Pod, resources: [good], result: pass }
  - { policy: need-owner, kind: Pod, resources: [bad], result: pass }
`;
const LOADING = `Loading test  ( DIR/kyverno-test.yaml ) ...
  Loading policies ...
  Checking results ...
`;
const file = write("kyverno-test.yaml", HEAD + RESULTS);

describe("a run of test files", () => {
  test("shows a table for each test and counts what passed and failed", async () => {
    const { passed, out, err, rows } = await run([file]);
    assert.equal(
      out,
      `${LOADING}
│────│────────────│──────│─────────────────────│────────│─────────────────────│
│ ID │ POLICY     │ RULE │ RESOURCE            │ RESULT │ REASON              │
│────│────────────│──────│─────────────────────│────────│─────────────────────│
│ 1  │ need-owner │      │ v1/Pod/default/good │ Pass   │ Ok                  │
│ 2  │ need-owner │      │ v1/Pod/default/bad  │ Fail   │ Want pass, got fail │
│────│────────────│──────│─────────────────────│────────│─────────────────────│


Test Summary: 1 tests passed and 1 tests failed

`,
    );
    assert.equal(err, "Error: 1 tests failed\n");
    assert.equal(passed, false);
    assert.deepEqual(
      rows.map(({ path, row }) => [path, row.id]),
      [
        [file, 1],
        [file, 2],
      ],
    );
  });

  test("shows only what failed, numbered anew, when asked to", async () => {
    const { out } = await run([file], { failOnly: true, detailedResults: true });
    assert.equal(
      out,
      `${LOADING}
Test Summary: 1 out of 2 tests failed

Aggregated Failed Test Cases : 
│────│────────────│──────│────────────────────│────────│─────────────────────│──────────────│
│ ID │ POLICY     │ RULE │ RESOURCE           │ RESULT │ REASON              │ MESSAGE      │
│────│────────────│──────│────────────────────│────────│─────────────────────│──────────────│
│ 1  │ need-owner │      │ v1/Pod/default/bad │ Fail   │ Want pass, got fail │ set an owner │
│────│────────────│──────│────────────────────│────────│─────────────────────│──────────────│
`,
    );
    const json = await run([file], { failOnly: true, outputFormat: "json" });
    assert.match(json.out, /Summary: 1 out of 2 tests failed\n\n\n\[\n {2}\{\n {4}"ID": 2,/);
    assert.ok(json.out.endsWith("}\n]\n\n"));
  });

  test("writes the rows of each test in a format, or says which there are", async () => {
    const { out } = await run([file], { outputFormat: "markdown" });
    assert.match(out, /Checking results \.\.\.\n\n\| ID \| POLICY \|/);
    assert.match(out, /\| 2 \| need-owner .*\|\n\n\n\nTest Summary/);
    const { passed, err, out: nothing } = await run([file], { outputFormat: "xml" });
    assert.deepEqual([passed, nothing], [false, ""]);
    assert.equal(err, "Error: invalid format, expected (json, yaml, markdown, junit)\n");
  });

  test("leaves out tests of which nothing is selected", async () => {
    const { passed, out } = await run([file], { testCaseSelector: "policy=zz" });
    assert.deepEqual([passed, out], [true, "\nTest Summary: 0 tests passed and 0 tests failed\n\n"]);
    const good = await run([file], { testCaseSelector: "resource=good" });
    assert.match(good.out, /1 tests passed and 0 tests failed/);
    assert.equal(good.passed, true);
    const wrong = await run([file], { testCaseSelector: "resource=good,foo=zz" });
    assert.match(wrong.out, /^\nFilter errors:\n {2}Error: Invalid test-case-selector \(foo=zz\)/);
  });

  test("without tests is right, unless they are required or the selector is wrong", async () => {
    assert.deepEqual(await run([]), { passed: true, out: "\nNo test yamls available\n", err: "", rows: [] });
    const empty = write("empty.yaml", "# nothing\n");
    assert.equal((await run([empty])).out, "\nNo test yamls available\n");
    const required = await run([], { requireTests: true });
    assert.deepEqual([required.passed, required.err], [false, "Error: no tests found\n"]);
    assert.equal((await run([], { testCaseSelector: "a" })).passed, false);
  });

  test("ends before it begins when a file cannot be used", async () => {
    const broken = write("broken.yaml", `${HEAD}foo: 1\n`);
    const { passed, out, err } = await run([file, broken, join(folder, "none.yaml")]);
    assert.equal(passed, false);
    const [first, path, error, next] = out.trimStart().split("\n");
    assert.deepEqual(
      [first, path, error],
      [
        "Test errors:",
        "  Path: DIR/broken.yaml",
        '    Error: error unmarshaling JSON: while decoding JSON: json: unknown field "foo"',
      ],
    );
    assert.equal(next, "  Path: DIR/none.yaml");
    assert.equal(err, "Error: found 2 errors after loading tests\n");
  });

  test("refuses the format of old, and what says neither version nor kind", async () => {
    for (const text of [`${HEAD}name: abc\n${RESULTS}`, "kind: Test\n", "apiVersion: v1\n"]) {
      const { passed, out, err } = await run([write("old.yaml", text)]);
      assert.equal(passed, false);
      assert.equal(out, "\nWARNING: test file (DIR/old.yaml) uses a deprecated schema that will be removed in 1.15\n");
      assert.equal(
        err,
        "Error: test file DIR/old.yaml uses a deprecated schema — please migrate to the latest format\n",
      );
    }
  });

  test("ends with a test that cannot run, and what came before is kept", async () => {
    const second = write("second/kyverno-test.yaml", HEAD + RESULTS);
    const failing: Evaluate = async (given, words) => {
      if (given.path === second) throw new TestRunError("error: failed to load policies (no such file)");
      return evaluate(given, words);
    };
    const { passed, out, err, rows } = await run([file, second], {}, failing);
    assert.equal(passed, false);
    assert.equal(err, "Error: failed to run test (error: failed to load policies (no such file))\n");
    assert.equal(rows.length, 2);
    assert.doesNotMatch(out, /Summary/);
  });

  test("warns of names that no resource has", async () => {
    const typo = write("typo.yaml", `${HEAD}results: [{ policy: need-owner, result: pass, resources: [good, god] }]\n`);
    const { passed, err } = await run([typo]);
    assert.deepEqual([passed, err], [true, "Error: DIR/typo.yaml: results[0]: there is no resource god\n"]);
  });
});

test("test files are found by name in all folders, hidden ones too", async () => {
  for (const name of ["b/kyverno-test.yaml", "b/.hidden/kyverno-test.yaml", "a/x.yaml", "a/c/kyverno-test.yaml"])
    write(`found/${name}`, "");
  const found = async (name?: string) =>
    (await findTestFiles(join(folder, "found"), name)).map((path) => path.replace(join(folder, "found/"), ""));
  assert.deepEqual(await found(), ["a/c/kyverno-test.yaml", "b/.hidden/kyverno-test.yaml", "b/kyverno-test.yaml"]);
  assert.deepEqual(await found("x.yaml"), ["a/x.yaml"]);
});
