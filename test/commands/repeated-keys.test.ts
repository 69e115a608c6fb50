/** A key that stands twice in a map: Kubernetes takes the last one without a word, here every command says so. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, describe, test } from "node:test";
import { runCommandLine } from "../../src/commands/command-line.js";

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
    assert.deepEqual([code, out], [0, `${IN_POLICY}${policies}: 1 policy, no errors\n`]);
  });

  test("is an error in policies.yaml", async () => {
    const twice = file("twice.yaml", "p: { resource: policy.yaml }\np: { resource: policy.yaml }\n");
    const { code, out } = await run("check", twice);
    assert.equal(code, 1);
    assert.ok(out.includes(`${twice}:2:1: p: ${WORDS}\n`), out);
  });

  test("eval", async () => {
    const { code, err } = await run("eval", "p", "--object", pod, "--policies", policies);
    assert.equal(code, 0);
    assert.ok(err.startsWith(`${IN_POD}${IN_POLICY}`), err);
  });

  test("test, once for all cases", async () => {
    const { code, err } = await run("test", cases, "--policies", policies);
    assert.deepEqual([code, err], [0, `${IN_POLICY}warning: ${cases}:5:5: ${WORDS}\n${IN_POD}`]);
  });

  test("apply", async () => {
    const { code, err } = await run("apply", policy, "-r", pod);
    assert.deepEqual([code, err], [0, `${IN_POD}warning: ${IN_POLICY}`]);
  });
});
