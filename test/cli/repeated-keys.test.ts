/** A key that stands twice in a map: Kubernetes takes the last one without a word, here every command says so. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, describe, test } from "node:test";
import { runCommandLine } from "../../src/cli/command-line.js";
import { startExample } from "../support/example-server.js";

const folder = mkdtempSync(join(tmpdir(), "repeated-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

async function run(...args: string[]) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const printed = Promise.all([text(stdout), text(stderr)]);
  const code = await runCommandLine(args, { env: { HOME: folder }, stdin: Readable.from([]), stdout, stderr });
  stdout.end();
  stderr.end();
  const [out, err] = await printed;
  return { code, out, err };
}

const RULES = '[ { apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods] } ]';
const policy = file(
  "policy.yaml",
  `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: v }
spec:
  matchConstraints: { resourceRules: ${RULES} }
  validations: [ { expression: "object.metadata.labels.a == '2'" } ]
  failurePolicy: Ignore
  failurePolicy: Fail
`,
);
const pod = file(
  "pod.yaml",
  `# first\n---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  labels: {a: "1", a: "2"}\n`,
);
const policies = file("policies.yaml", "p: { resource: policy.yaml }\n");
const cases = file(
  "a.test.yaml",
  "policy: p\ncases:\n  - object: pod.yaml\n    expect: deny\n    expect: allow\n  - object: pod.yaml\n    expect: allow\n",
);

const WORDS = "duplicate key: the same key stands above in this map";
const IN_POLICY = `${policy}:8:3: warning: spec.failurePolicy: ${WORDS}\n`;
const IN_POD = `warning: ${pod}:7:20: ${WORDS}\n`;

describe("a key that stands twice", () => {
  test("check", async () => {
    const { code, out } = await run("check", policies);
    const told = `${IN_POLICY.trimEnd()} [CONFIG_DUPLICATE_KEY]\n 8 |   failurePolicy: Fail\n   |   ^^^^^^^^^^^^^\n`;
    assert.equal(code, 0);
    assert.ok(out.includes(`${told}\n${policies}: 1 policy, no errors, 1 warning`), out);
  });

  test("is an error in policies.yaml", async () => {
    const twice = file("twice.yaml", "p: { resource: policy.yaml }\np: { resource: policy.yaml }\n");
    const { code, out } = await run("check", twice);
    assert.equal(code, 1);
    assert.ok(out.includes(`${twice}:2:1: p: ${WORDS} [CONFIG_DUPLICATE_KEY]\n`), out);
  });

  test("eval", async () => {
    const { code, err } = await run("eval", "p", "--object", pod, "--policies", policies);
    assert.equal(code, 0);
    assert.ok(err.startsWith(`${IN_POD}${IN_POLICY}`), err);
  });

  test("test, once for all cases", async () => {
    const { code, err } = await run("test", cases, "--policies", policies);
    const own = `${cases}:5:5: warning: cases[0].expect: ${WORDS}\n${pod}:7:20: warning: metadata.labels.a: ${WORDS}\n`;
    assert.deepEqual([code, err], [0, `${own}${IN_POLICY}`]);
  });

  test("serve says so in its log", async () => {
    const server = await startExample("--policies", policies);
    try {
      const line =
        server
          .log()
          .split("\n")
          .find((each) => each.includes(WORDS)) ?? "";
      assert.ok(line.includes(`${policy}:8:3: `) && line.includes("warning"), server.log());
      assert.equal(server.log().split(WORDS).length, 2);
    } finally {
      await server.stop();
    }
  });

  test("apply, of JSON by its place in the file", async () => {
    const list = file(
      "list.json",
      '{"apiVersion": "v1", "kind": "List", "items": [\n  {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "labels": {"a": "1", "a": "2"}}}]}\n',
    );
    const { code, err } = await run("apply", policy, "-r", list);
    assert.deepEqual([code, err], [0, `warning: ${list}:2:86: ${WORDS}\nwarning: ${IN_POLICY}`]);
  });

  test("eval, of JSON", async () => {
    const json = file("pod.json", '{"apiVersion": "v1", "kind": "Pod",\n "kind": "Pod", "metadata": {"name": "a"}}');
    const { err } = await run("eval", "p", "--object", json, "--policies", policies);
    assert.ok(err.startsWith(`warning: ${json}:2:2: ${WORDS}\n`), err);
  });

  test("apply, of definitions", async () => {
    const crd = file("crd.yaml", "kind: CustomResourceDefinition\nspec: {a: 1, a: 2}\n...\nx: y\n");
    const { err } = await run("apply", policy, "-r", pod, "--crd-paths", crd);
    assert.ok(err.startsWith(`warning: ${crd}:2:14: ${WORDS}\nwarning: ${crd}:4:1: what stands here is not read`), err);
  });

  test("test in Kyverno's format, in every file of resources", async () => {
    const TYPE = "apiVersion: cli.kyverno.io/v1alpha1\n";
    const json = file("pods.jsonl", '{"apiVersion": "v1", "kind": "Pod",  "kind": "Pod", "metadata": {"name": "b"}}\n');
    const crd = file("crd.yaml", "kind: CustomResourceDefinition\nspec: {a: 1, a: 2}\n");
    const cluster = file("cluster.yaml", `${TYPE}kind: ClusterResource\nspec: {crds: [crd.yaml]}\n...\nx: y\n`);
    const entry = file("entry.yaml", "kind: Pod\nkind: Pod\n");
    const end = file("end.yaml", "kind: x\n---\n# c\nkind: y\n...\nx: y\n");
    const cli = file(
      "kyverno-test.yaml",
      `${TYPE}kind: Test
metadata: {name: t}
policies: [end.yaml]
resources: [pod.yaml, pods.jsonl]
clusterResources: [cluster.yaml]
globalContextEntries: [{name: e, resourceFiles: [entry.yaml]}]
results: [{policy: v, kind: Pod, resources: [a], result: pass}]
`,
    );
    const { err } = await run("test", cli);
    const warned = err.split("\n").filter((line) => /duplicate key|is not read/.test(line));
    const places = warned.map((line) => line.replace(`warning: ${cli}: `, "").replace(/: (?:dup|what).*/, ""));
    assert.deepEqual(
      places,
      [`${end}:6:1`, `${pod}:7:20`, `${json}:1:38`, `${cluster}:5:1`, `${crd}:2:14`, `${entry}:2:1`],
      err,
    );
  });

  test("apply", async () => {
    const { code, err } = await run("apply", policy, "-r", pod);
    assert.deepEqual([code, err], [0, `${IN_POD}warning: ${IN_POLICY}`]);
  });
});
