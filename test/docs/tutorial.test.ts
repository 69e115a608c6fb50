/**
 * The tutorial, from its first line to its last, in an empty folder: edits are made, commands are run, and print what the page says.
 * `DOCS=write node scripts/test.mjs docs/tutorial` writes into the page what they print, where it says something else.
 */
import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { buildModule } from "../support/assemblyscript.js";
import { startExample } from "../support/example-server.js";
import { onTerminal } from "../support/on-terminal.js";
import { ShownPage, shell } from "../support/shown-page.js";

const folder = mkdtempSync(join(tmpdir(), "tutorial-"));
process.chdir(folder);
after(() => {
  process.chdir(fileURLToPath(new URL("../../../", import.meta.url)));
  rmSync(folder, { recursive: true });
});

/** What the tutorial's `npm test` does: compiles, and runs the tests. */
async function npmTest(): Promise<string> {
  const { scripts } = JSON.parse(readFileSync("need-owner/package.json", "utf8")) as {
    scripts: Record<string, string>;
  };
  assert.equal(scripts.test, "npm run build && policy-server test");
  await buildModule("need-owner");
  process.chdir("need-owner");
  const printed = await onTerminal("test");
  process.chdir("..");
  return `…\n${printed}`;
}

/** What a command prints. */
async function run(command: string): Promise<string> {
  if (command === "npm test") return npmTest();
  if (command.startsWith("npx policy-server ")) return onTerminal(command.slice("npx policy-server ".length));
  if (!command.startsWith("curl ")) return shell(command);
  const server = await startExample("--policies", join(folder, "policies.yaml"), "--workers", "1");
  try {
    return await shell(command.replace("http://localhost:3000", server.url));
  } finally {
    await server.stop();
  }
}

test("the tutorial can be followed, and shows what is to be seen", { timeout: 120_000 }, async () => {
  const page = new ShownPage("tutorial.md");
  assert.ok(page.steps.length > 25, `${page.steps.length} steps`);
  for (const step of page.steps) {
    if (step.kind === "append") appendFileSync(step.file, step.text);
    else if (step.kind === "replace") {
      const before = readFileSync(step.file, "utf8");
      assert.ok(before.includes(step.from), `${step.file} has no ${step.from}`);
      writeFileSync(
        step.file,
        before.replace(step.from, () => step.to),
      );
    } else page.shows(step, (await run(step.command)).replaceAll(`${folder}/`, ""));
  }
  page.done();
});
