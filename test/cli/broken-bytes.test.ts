/** A file with a byte that is no UTF-8: YAML that Kubernetes refuses, and so does every command. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, describe, test } from "node:test";
import { runCommandLine } from "../../src/cli/command-line.js";

const folder = mkdtempSync(join(tmpdir(), "bytes-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** @param content one byte a character */
function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content, "latin1");
  return path;
}

async function run(args: readonly string[], stdin = "") {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const printed = Promise.all([text(stdout), text(stderr)]);
  const io = { env: { HOME: folder }, stdin: Readable.from([Buffer.from(stdin, "latin1")]), stdout, stderr };
  const code = await runCommandLine([...args], io);
  stdout.end();
  stderr.end();
  const [out, err] = await printed;
  return { code, out, err };
}

const POLICY = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: v }
spec:
  matchConstraints: { resourceRules: [ { apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods] } ] }
  validations: [ { expression: "true" } ]
`;
const POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n";
const BROKEN_POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: {b: \xff}}\n";
const WORDS = "what stands here is not UTF-8";
const policy = file("policy.yaml", POLICY);
const pod = file("pod.yaml", POD);
const brokenPolicy = file("broken-policy.yaml", `${POLICY}# \xff\n`);
const brokenPod = file("broken-pod.yaml", BROKEN_POD);
const policies = file("policies.yaml", "p: { resource: policy.yaml }\n");

describe("a byte that is no UTF-8", () => {
  test("read, of files and standard input", async () => {
    const ofFile = await run(["read", brokenPod]);
    assert.deepEqual(ofFile, { code: 1, out: "", err: `${brokenPod}:3:33: ${WORDS}\n` });
    const ofStdin = await run(["read"], `a: 1\n---\n${BROKEN_POD}`);
    assert.deepEqual(ofStdin, { code: 1, out: '{"a":1}\n', err: `-:5:33: ${WORDS}\n` });
  });

  test("check, in policies.yaml and what it names", async () => {
    const named = await run(["check", file("names.yaml", "p: { resource: broken-policy.yaml }\n")]);
    assert.equal(named.code, 1);
    assert.ok(named.out.includes(`${brokenPolicy}:7:3: ${WORDS}`), named.out);
    const own = await run(["check", file("own.yaml", "p: { resource: policy.yaml } # \xff\n")]);
    assert.equal(own.code, 1);
    assert.match(own.out, /own\.yaml:1:32: what stands here is not UTF-8/);
  });

  test("eval", async () => {
    const { code, err } = await run(["eval", "p", "--object", brokenPod, "--policies", policies]);
    assert.deepEqual([code === 0, err.includes(WORDS)], [false, true], err);
  });

  test("test, in the file of the test and the object", async () => {
    const whole = file("a.test.yaml", "policy: p # \xff\ncases: []\n");
    const named = file("b.test.yaml", "policy: p\ncases:\n  - object: broken-pod.yaml\n    expect: allow\n");
    for (const broken of [whole, named]) {
      const { code, out, err } = await run(["test", broken, "--policies", policies]);
      assert.notEqual(code, 0);
      assert.ok((out + err).includes(WORDS), out + err);
    }
  });

  test("apply takes it in JSON, where Kubernetes has U+FFFD for it", async () => {
    const json = file(
      "pod.json",
      '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "labels": {"b": "\xf0\x9f"}}}',
    );
    const own = file("own-policy.yaml", POLICY.replace('"true"', "\"object.metadata.labels.b == '\\uFFFD\\uFFFD'\""));
    const { code, out, err } = await run(["apply", own, "-r", json]);
    assert.equal(code, 0, out + err);
  });

  test("apply, in policies, resources, parameters and values", async () => {
    const values = file("values.yaml", "apiVersion: cli.kyverno.io/v1alpha1\nkind: Values # \xff\n");
    for (const args of [
      [policy, "-r", brokenPod],
      [brokenPolicy, "-r", pod],
      [policy, "-r", pod, "--parameter-resource", brokenPod],
      [policy, "-r", pod, "--values-file", values],
      [policy, "-r", pod, "--crd-paths", brokenPod],
    ]) {
      const { out, err } = await run(["apply", ...args]);
      assert.ok((out + err).includes(WORDS), `${args}: ${out}${err}`);
    }
  });
});
