/**
 * The tutorial, from its first line to its last, in an empty folder: edits are made, commands are run, and print what the page says.
 * `TUTORIAL=write node scripts/test.mjs docs/tutorial` writes into the page what they print, where it says something else.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { runCommandLine } from "../../src/commands/command-line.js";
import { buildModule } from "../support/assemblyscript.js";
import { startExample } from "../support/example-server.js";
import { printsAs } from "../support/printed.js";
import { stepsOf } from "../support/tutorial-steps.js";

const repository = fileURLToPath(new URL("../../../", import.meta.url));
const page = join(repository, "docs/tutorial.md");
const folder = mkdtempSync(join(tmpdir(), "tutorial-"));
process.chdir(folder);
after(() => {
  process.chdir(repository);
  rmSync(folder, { recursive: true });
});

/** Runs a command as on a terminal without colours, whose two streams are shown as one. */
async function policyServer(line: string): Promise<string> {
  const [, written = "", , file] = /^(.*?)( > (\S+))?$/.exec(line) ?? [];
  const screen = Object.assign(new PassThrough(), { isTTY: true });
  const stdout = file === undefined ? screen : new PassThrough();
  const env = { NO_COLOR: "1", HOME: folder };
  await runCommandLine(written.split(" "), { env, stdin: Readable.from([]), stdout, stderr: screen });
  if (file !== undefined) writeFileSync(file, await text(stdout.end()));
  screen.end();
  return text(screen);
}

/** What the tutorial's `npm test` does: compiles, and runs the tests. */
async function npmTest(): Promise<string> {
  const { scripts } = JSON.parse(readFileSync("need-owner/package.json", "utf8")) as {
    scripts: Record<string, string>;
  };
  assert.equal(scripts.test, "npm run build && policy-server test");
  await buildModule("need-owner");
  process.chdir("need-owner");
  const printed = await policyServer("test");
  process.chdir("..");
  return `…\n${printed}`;
}

function shell(command: string): Promise<string> {
  return new Promise((resolve) => execFile("bash", ["-c", command], (_, stdout) => resolve(stdout)));
}

/** What a command prints. */
async function run(command: string): Promise<string> {
  if (command === "npm test") return npmTest();
  if (command.startsWith("npx policy-server ")) return policyServer(command.slice("npx policy-server ".length));
  if (!command.startsWith("curl ")) return shell(command);
  const server = await startExample("--policies", join(folder, "policies.yaml"), "--workers", "1");
  try {
    return await shell(command.replace("http://localhost:3000", server.url));
  } finally {
    await server.stop();
  }
}

/** Times are others in every run. */
const lasting = (printed: string): string => printed.replace(/\d[\d.]* ms$/gm, "… ms");

test("the tutorial can be followed, and shows what is to be seen", { timeout: 120_000 }, async () => {
  const original = readFileSync(page, "utf8");
  const steps = stepsOf(original);
  assert.ok(steps.length > 25, `${steps.length} steps`);
  let written = original;
  for (const step of steps) {
    if (step.kind === "append") appendFileSync(step.file, step.text);
    else if (step.kind === "replace") {
      const before = readFileSync(step.file, "utf8");
      assert.ok(before.includes(step.from), `${step.file} has no ${step.from}`);
      writeFileSync(
        step.file,
        before.replace(step.from, () => step.to),
      );
    } else {
      const printed = (await run(step.command)).replaceAll(`${folder}/`, "").trim();
      if (process.env.TUTORIAL === "write") {
        if (!printsAs(step.output, printed))
          written = written.replace(step.block, () => `\`\`\`console\n$ ${step.command}\n${lasting(printed)}\n\`\`\``);
      } else
        assert.ok(
          printsAs(step.output, printed),
          `$ ${step.command}\n${printed}\n--- but the page has\n${step.output}`,
        );
    }
  }
  if (process.env.TUTORIAL === "write") writeFileSync(page, written);
});
