/**
 * The tutorial, from its first line to its last, in an empty folder, with the package as its first step installs it: edits are made, commands are run on a terminal, and print what
 * the page says. `DOCS=write node scripts/test.mjs docs/tutorial` writes into the page what they print, where it says something else.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { startExample } from "../support/example-server.js";
import { installPacked } from "../support/installed.js";
import { ShownPage } from "../support/shown-page.js";

const { folder, env, remove } = await installPacked();
after(remove);
/** The folder that the reader is in: `npm install` and `npm test` are run in the one that `scaffold wasm` has made. */
const WASM = join(folder, "need-owner");

/** All that a command prints on a terminal, which the program script of Linux is. */
function onTerminal(command: string, cwd: string): Promise<string> {
  const args = ["-q", "-e", "-c", command, "/dev/null"];
  return new Promise((resolve, reject) => {
    const child = execFile("script", args, { cwd, env: { ...env, SHELL: "/bin/bash" } }, (error, stdout) =>
      error?.code === "ENOENT" ? reject(error) : resolve(stdout.replaceAll("\r\n", "\n")),
    );
    child.stdin?.end();
  });
}

/** What a command prints. */
async function run(command: string): Promise<string> {
  if (command === "npm test") {
    await onTerminal("npm install", WASM);
    const printed = await onTerminal(command, WASM);
    return `…\n${printed.trimEnd().split("\n").at(-1)}\n`;
  }
  if (!command.startsWith("curl ")) return onTerminal(command, folder);
  const server = await startExample("--policies", join(folder, "policies.yaml"), "--workers", "1");
  try {
    return await onTerminal(command.replace("http://localhost:3000", server.url), folder);
  } finally {
    await server.stop();
  }
}

const skip = process.platform === "linux" ? false : "the terminal is Linux's";

test("the tutorial can be followed, and shows what is to be seen", { timeout: 600_000, skip }, async () => {
  const page = new ShownPage("tutorial.md");
  assert.ok(page.steps.length > 25, `${page.steps.length} steps`);
  for (const step of page.steps) {
    if (step.kind === "append") appendFileSync(join(folder, step.file), step.text);
    else if (step.kind === "replace") {
      const file = join(folder, step.file);
      const before = readFileSync(file, "utf8");
      assert.ok(before.includes(step.from), `${step.file} has no ${step.from}`);
      writeFileSync(
        file,
        before.replace(step.from, () => step.to),
      );
    } else page.shows(step, (await run(step.command)).replaceAll(`${folder}/`, ""));
  }
  page.done();
});
