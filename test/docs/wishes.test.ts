/** The commands of docs/wishes.md print what it says. `DOCS=write node scripts/test.mjs docs/wishes` writes it anew. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { startExample } from "../support/example-server.js";
import { onTerminal } from "../support/on-terminal.js";
import { ShownPage, shell } from "../support/shown-page.js";

const repository = fileURLToPath(new URL("../../../", import.meta.url));
const folder = join(repository, "test/fixtures/wishes");

describe("docs/wishes.md", async () => {
  process.chdir(folder);
  after(() => process.chdir(repository));
  const page = new ShownPage("wishes.md");
  const server = await startExample("--policies", join(folder, "policies.yaml"), "--workers", "1");
  after(() => server.stop());

  test("has 25 wishes, and each is shown by something", () => {
    const rows = [...readFileSync(join(repository, "docs/wishes.md"), "utf8").matchAll(/^\| (\d+) \|.*\| (.+) \|$/gm)];
    assert.deepEqual(
      rows.map(([, number]) => Number(number)),
      Array.from({ length: 25 }, (_, index) => index + 1),
    );
  });

  for (const step of page.steps) {
    if (step.kind !== "run") continue;
    test(step.command, async () => {
      const { command } = step;
      const printed = command.startsWith("policy-server ")
        ? await onTerminal(command.slice("policy-server ".length))
        : await shell(command.replace("http://localhost:3000", server.url));
      page.shows(step, printed.replaceAll(`${folder}/`, "…/"));
    });
  }
  after(() => page.done());
});
