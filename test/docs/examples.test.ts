import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Pages whose `console` blocks need no server and no cluster, but for those that shown.test.ts runs. */
const PAGES = ["groups.md", "mutating-admission-policies.md"];

for (const page of PAGES) {
  const text = readFileSync(`${root}/docs/${page}`, "utf8");
  const examples = [...text.matchAll(/(?<!-->\n)```console\n\$ (.*)\n([\s\S]*?)```/g)];

  test(`docs/${page} has examples`, () => assert.ok(examples.length > 0));

  for (const [, command = "", output = ""] of examples) {
    test(`docs/${page}: ${command}`, async () => {
      const runnable = command.replace("npx policy-server", `${process.execPath} dist/server/main.js`);
      const printed = await new Promise<string>((resolve) => {
        execFile("bash", ["-c", runnable], { cwd: root, timeout: 30_000 }, (_, stdout) => resolve(stdout));
      });
      assert.equal(printed.trimEnd(), output.trimEnd());
    });
  }
}
