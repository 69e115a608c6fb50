/** The commands of the page about Gatekeeper, in order, beside the files that it names: they print what it says. */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { onTerminal } from "../support/on-terminal.js";
import { ShownPage } from "../support/shown-page.js";

const repository = fileURLToPath(new URL("../../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "moving-"));
after(() => {
  process.chdir(repository);
  rmSync(folder, { recursive: true });
});

test("the page about moving from Gatekeeper can be followed", async () => {
  cpSync(join(repository, "test/fixtures/gatekeeper"), folder, { recursive: true });
  process.chdir(folder);
  const page = new ShownPage("moving-from-gatekeeper.md");
  for (const step of page.steps)
    if (step.kind === "run") page.shows(step, await onTerminal(step.command.replace("policy-server ", "")));
  page.done();
});
