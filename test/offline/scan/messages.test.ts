import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, type TestContext, test } from "node:test";
import { runCommandLine } from "../../../src/cli/command-line.js";
import { parseJson } from "../../../src/data/json.js";
import { LOOKALIKES } from "../../support/lookalikes.js";

const matchConstraints = {
  resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }],
};
const admission = (kind: string, name: string, spec: object) => ({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind,
  metadata: { name },
  spec,
});
const policy = (name: string, spec: object) =>
  admission("ValidatingAdmissionPolicy", name, { matchConstraints, ...spec });
const binding = (name: string, policyName: string) =>
  admission("ValidatingAdmissionPolicyBinding", name, { policyName, validationActions: ["Deny"] });
const kyverno = (name: string, spec: object) => ({
  apiVersion: "policies.kyverno.io/v1",
  kind: "ValidatingPolicy",
  metadata: { name },
  spec: { matchConstraints, ...spec },
});

/** What `apply` reports of a Pod: for policies of these documents, and for those of a policies.yaml. */
async function reported(context: TestContext, documents: readonly object[], entries: object = {}) {
  const folder = mkdtempSync(join(tmpdir(), "messages-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const file = (name: string, ...contents: readonly object[]) => {
    writeFileSync(join(folder, name), contents.map((each) => JSON.stringify(each)).join("\n---\n"));
    return join(folder, name);
  };
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const [out, err] = [text(stdout), text(stderr)];
  const ids = Object.keys(entries);
  await runCommandLine(
    [
      "apply",
      ...(documents.length === 0 ? [] : [file("documents.yaml", ...documents)]),
      ...ids,
      ...(ids.length === 0 ? [] : ["--policies", file("policies.yaml", entries)]),
      "--resource",
      file("pod.yaml", { apiVersion: "v1", kind: "Pod", metadata: { name: "a", namespace: "shop" } }),
      "--policy-report",
      "--output-format",
      "json",
    ],
    { env: {}, stdin: Readable.from([]), stdout, stderr },
  );
  stdout.end();
  stderr.end();
  assert.equal(await err, "");
  const printed = await out;
  const { results } = parseJson(printed.slice(printed.indexOf("{"))) as {
    readonly results: readonly Record<string, unknown>[];
  };
  return results.map(({ policy: name, rule, result, message, properties }) => [
    name,
    rule,
    result,
    message,
    properties,
  ]);
}

describe("what apply reports", () => {
  for (const message of LOOKALIKES) {
    test(`is what the author wrote: ${message}`, async (context) => {
      const never = { validations: [{ expression: "false", message }] };
      const found = await reported(context, [
        policy("free", { validations: [{ expression: "false", messageExpression: JSON.stringify(message) }] }),
        policy("bound", never),
        binding("b1", "bound"),
        binding("b2", "bound"),
        kyverno("p", { validations: [{ expression: "false", message: `${message}\nand more` }] }),
      ]);
      const process = "background scan";
      assert.deepEqual(found, [
        ["p", undefined, "fail", `${message}\nand more`, { "cel.validationIndex": "0", process }],
        ["free", "free", "fail", message, { process }],
        ["bound", "bound", "fail", message, { binding: "b1", process }],
      ]);
    });
  }
});
