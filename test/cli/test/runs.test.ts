import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { testFolder } from "./support.js";

const { folder, write, run } = testFolder();
const MEMORY_LIMITS = fileURLToPath(new URL("../../../../policies/kyverno/memory-limits", import.meta.url));
const POD = "{ apiVersion: v1, kind: Pod, metadata: { name: web } }";

write("policies.yaml", "names: { cel: { validations: [{ expression: 'true' }] } }\n");

describe("runs of test files", () => {
  test("of both formats print one JSON document", async () => {
    cpSync(MEMORY_LIMITS, join(folder, "both/kyverno"), { recursive: true });
    write("both/a.test.yaml", `policy: names\ncases: [{ object: ${POD}, expect: allow }]\n`);
    const { code, out, err } = await run(join(folder, "both"), "-o", "json");
    const { passed, failed, cases, rows } = JSON.parse(out);
    assert.deepEqual([code, passed, failed, cases.length, rows.length], [0, 8, 0, 1, 7]);
    assert.equal(rows[0].file, "both/kyverno/kyverno-test.yaml");
    assert.equal(rows[0].POLICY, "memory-limits");
    assert.match(err, /Loading test/);
  });

  test("print one, too, when nothing of policies.yaml can be used", async () => {
    const broken = testFolder();
    broken.write("policies.yaml", "[");
    const file = broken.write("a.test.yaml", `policy: names\ncases: [{ object: ${POD}, expect: allow }]\n`);
    const { code, out } = await broken.run(file, "-o", "json");
    const { passed, failed, error } = JSON.parse(out);
    assert.deepEqual([code, passed, failed], [2, 0, 1]);
    assert.match(error, /policies.yaml:1:1/);
  });

  test("a member that a group does not have is no member that was not evaluated", async () => {
    const group = testFolder();
    const member = "{ cel: { validations: [{ expression: 'true' }] } }";
    group.write("policies.yaml", `g: { expression: first(), message: m, policies: { first: ${member} } }\n`);
    const file = group.write(
      "a.test.yaml",
      `policy: g\ncases: [{ object: ${POD}, expect: allow, members: { frist: not evaluated } }]\n`,
    );
    const { code, out } = await group.run(file);
    assert.equal(code, 1);
    assert.match(out, /a.test.yaml:2:\d+: members: there is no member 'frist' \(did you mean "first"\?\)/);
  });

  test("a fixture may be named by its whole path; a former state that is no object is a mistake", async () => {
    const pod = write("pod.json", '{ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "web" } }');
    const file = write("abs/a.test.yaml", `policy: names\ncases: [{ object: ${pod}, expect: allow }]\n`);
    assert.equal((await run(file)).code, 0);
    const wrong = write("abs/b.test.yaml", `policy: names\ncases: [{ object: ${pod}, old: 7, expect: allow }]\n`);
    const { code, err } = await run(wrong);
    assert.equal(code, 2);
    assert.match(err, /b.test.yaml:2:\d+: cases\[0\].old: expected an object/);
  });

  test("a module that is not there refuses no settings, and why is said once", async () => {
    const file = write(
      "none/a.test.yaml",
      `module: policy.wasm\ncases:\n  - { expect: refused }\n  - { object: ${POD}, expect: error }\n`,
    );
    const { code, out } = await run(file);
    assert.equal(code, 1);
    assert.deepEqual(out.split("\n"), [
      "FAIL none/a.test.yaml:3:5: case 1 (policy.wasm)",
      "  none/a.test.yaml:1:1: policy: the policy could not be loaded: Error while downloading policy 'policy' from policy.wasm: No such file or directory: none/policy.wasm",
      "FAIL none/a.test.yaml:4:5: case 2 (policy.wasm): as above",
      "0 passed, 2 failed",
      "",
    ]);
  });
});
