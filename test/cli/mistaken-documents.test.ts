/** A broken policy document and a test of Kyverno's are told for what they are, in one error. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { runCommandLine } from "../../src/cli/command-line.js";
import { folder } from "../fetch/helpers.js";

const policy = (name: string, expression: string): string => `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: ${name} }
spec:
  validations:
    - expression: ${expression}
`;

const MISTAKES: readonly (readonly [string, string, number, RegExp])[] = [
  ["check", policy("p", "!has(object.x)"), 1, /f\.yaml:6:19: .*is a YAML tag.*put the text into quotes, "!has/],
  ["check", policy("p", '"{{ .Values.x }}"'), 1, /f\.yaml:6:19: .*this is a Helm template/],
  ["check", policy("{{ .Release.Name }}", '"true"'), 1, /f\.yaml:3:\d+: this is a Helm template/],
  [
    "test",
    "apiVersion: cli.kyverno.io/v1alpha1\nkind: Test\nresults: []\n",
    2,
    /f\.yaml:1:1: .*kyverno-test\.yaml, or by -f NAME/,
  ],
  ["test", "tests: []\n", 2, /f\.yaml:1:1: tests: unknown key: write "cases"/],
];

for (const [command, content, exitCode, said] of MISTAKES) {
  test(`${command} of ${content.split("\n").slice(-2)[0]}`, async (context) => {
    const root = folder(context, { "f.yaml": content });
    const out = new PassThrough();
    const io = { env: {}, stdin: Readable.from([]), stdout: out, stderr: out };
    assert.equal(await runCommandLine([command, join(root, "f.yaml")], io), exitCode);
    out.end();
    const printed = await text(out);
    assert.match(printed, said);
    assert.equal(printed.match(/f\.yaml:\d+:\d+: /g)?.length, 1, printed);
  });
}
