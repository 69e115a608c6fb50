import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = fileURLToPath(new URL("../../../", import.meta.url));
/** Within the package, so that it can be imported by its name, as a program would that has it installed. */
const folder = new URL("../../examples-of-library/", import.meta.url);
const page = readFileSync(new URL("../../../docs/library.md", import.meta.url), "utf8");
const EXAMPLE = /```js\n([\s\S]*?)```\n\n```text\n([\s\S]*?)```/g;

describe("docs/library.md", () => {
  mkdirSync(folder, { recursive: true });
  after(() => rmSync(folder, { recursive: true }));
  const examples = [...page.matchAll(EXAMPLE)];

  test("has examples", () => {
    assert.equal(examples.length, (page.match(/```js/g) ?? []).length);
    assert.ok(examples.length >= 4);
  });

  for (const [index, [, code = "", printed]] of examples.entries())
    test(`example ${index + 1} prints what the page says`, { timeout: 60_000 }, async () => {
      const file = new URL(`${index}.mjs`, folder);
      writeFileSync(file, code);
      const { stdout, stderr } = await promisify(execFile)(process.execPath, [fileURLToPath(file)], { cwd: root });
      assert.equal(stderr, "");
      assert.equal(stdout, printed);
    });
});
