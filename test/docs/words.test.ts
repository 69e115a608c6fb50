/** Pages name their subjects. Tables that are generated, and code, are not looked at. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const pages = [
  ...["docs", "docs/design", "deploy"].flatMap((folder) =>
    readdirSync(join(root, folder)).map((name) => `${folder}/${name}`),
  ),
  ...["README.md", "CONTRIBUTING.md", "SECURITY.md"],
].filter((page) => page.endsWith(".md"));

const RIDDLES = /\b(?:nobody|somebody|whoever|everybody|for want of|for ever|is no (?:YAML|JSON))\b/gi;

for (const page of pages) {
  test(`${page} names its subjects`, () => {
    const text = readFileSync(join(root, page), "utf8")
      .replace(/<!-- generated [\s\S]*?<!-- end -->/g, "")
      .replace(/^ *```[\s\S]*?^ *```/gm, "")
      .replace(/`[^`\n]*`/g, "");
    assert.deepEqual(text.match(RIDDLES) ?? [], []);
  });
}
