/** `check --kubernetes-version`: policies as an API server of that version stores them. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, type TestContext, test } from "node:test";
import { runCommandLine } from "../../src/cli/command-line.js";
import { folder } from "../fetch/helpers.js";

const POLICY = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: x.static.k8s.io
spec:
  matchConstraints:
    resourceRules: [{ apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods] }]
  validations:
    - expression: "[1].all(i, v, v > i && has(object.spec))"
`;

async function check(context: TestContext, ...options: readonly string[]) {
  const root = folder(context, { "policies.yaml": "p:\n  resource: policy.yaml\n", "policy.yaml": POLICY });
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const io = { env: {}, stdin: Readable.from([]), stdout, stderr };
  const code = await runCommandLine(["check", join(root, "policies.yaml"), ...options], io);
  stdout.end();
  stderr.end();
  return { code, out: (await text(stdout)).replaceAll(`${root}/`, ""), err: await text(stderr) };
}

describe("check --kubernetes-version", () => {
  test("says what a server of that version refuses, and what it warns of", async (context) => {
    const old = await check(context, "--kubernetes-version", "1.32");
    assert.equal(old.code, 1);
    assert.match(old.out, /^policy\.yaml:9:20: .*invalid argument to all\(\) macro|undeclared reference/);
    assert.match(old.out, /Kubernetes takes this in new policies from 1\.33 on/);
    const newer = await check(context, "--kubernetes-version", "v1.36.3");
    assert.equal(newer.code, 0);
    assert.match(newer.out, /^policy\.yaml:4:9: .*names ending with "\.static\.k8s\.io" are reserved/);
    assert.match((await check(context)).out, /^policy\.yaml:4:9: .*Invalid value: "x\.static\.k8s\.io"/);
  });

  test("refuses a version that it knows nothing of", async (context) => {
    for (const version of ["1.27", "1.99", "new", ""]) {
      const { code, out, err } = await check(context, "--kubernetes-version", version);
      assert.deepEqual([code, out], [2, ""]);
      assert.match(err, /there are no rules of ".*": known are 1\.28 to 1\.38\n/);
    }
  });
});
