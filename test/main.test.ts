import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const bash = (script: string) => spawnSync("bash", ["-c", script, process.execPath], { cwd: root, encoding: "utf8" });

test("output that nobody reads on is no success, and not worth a word", { skip: process.platform !== "linux" }, () => {
  const example = "policies/kyverno/memory-limits";
  for (const command of [`apply ${example}/policy.yaml -r ${example}/resources.yaml`, `test ${example}`]) {
    const { status, stderr } = bash(`"$0" dist/server/main.js ${command} | true; exit \${PIPESTATUS[0]}`);
    assert.deepEqual({ status, stderr }, { status: 141, stderr: "" }, command);
  }
});

test("a disk that is full is told in one line", { skip: !existsSync("/dev/full") }, () => {
  const { status, stderr } = bash('"$0" dist/server/main.js cel "1 + 1" > /dev/full');
  assert.equal(status, 1);
  assert.match(stderr, /^Error: cannot write to standard output: ENOSPC[^\n]*\n$/);
});
