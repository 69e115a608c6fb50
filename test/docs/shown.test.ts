/**
 * Commands that pages show print what the pages say. A block is run when a comment stands in the line before it: `<!-- tested in FOLDER -->`, or
 * `<!-- tested in FOLDER, figures differ -->` where numbers on the page are only examples. `DOCS=write node scripts/test.mjs docs/shown` writes into the
 * pages what is printed.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { startExample } from "../support/example-server.js";
import { onTerminal } from "../support/on-terminal.js";
import { ShownPage, shell } from "../support/shown-page.js";

const repository = fileURLToPath(new URL("../../../", import.meta.url));
const SERVED = "test/fixtures/shown";
const MARK = /^<!-- tested in (\S+?)(, figures differ)? -->\n(```console\n[\s\S]*?```)/gm;

interface Marked {
  readonly folder: string;
  readonly figures: boolean;
}

const pages = readdirSync(join(repository, "docs"))
  .filter((name) => name.endsWith(".md"))
  .map((name) => {
    const marks = readFileSync(join(repository, "docs", name), "utf8").matchAll(MARK);
    const marked = [...marks].map(([, folder = "", figures, block = ""]): [string, Marked] => [
      block,
      { folder, figures: figures !== undefined },
    ]);
    return { name, marked: new Map(marked) };
  })
  .filter(({ marked }) => marked.size > 0);

test("many commands are run", () => assert.ok(pages.flatMap(({ marked }) => [...marked]).length >= 20));

describe("commands that pages show", async () => {
  const served = join(repository, SERVED);
  const server = await startExample("--policies", join(served, "policies.yaml"), "--workers", "1");
  after(() => server.stop());
  after(() => process.chdir(repository));

  for (const { name, marked } of pages) {
    describe(`docs/${name}`, () => {
      const page = new ShownPage(name);
      for (const step of page.steps) {
        const mark = step.kind === "run" ? marked.get(step.block) : undefined;
        if (step.kind !== "run" || mark === undefined) continue;
        test(step.command, async () => {
          const { command } = step;
          const folder = join(repository, mark.folder);
          process.chdir(folder);
          const printed = command.startsWith("policy-server ")
            ? await onTerminal(command.slice("policy-server ".length))
            : await shell(command.replace("http://localhost:3000", server.url));
          page.shows(step, printed.replaceAll(`${folder.replace(/\/$/, "")}/`, "…/"), mark);
        });
      }
      after(() => page.done());
    });
  }
});
