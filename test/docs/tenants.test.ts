/** What docs/security.md says that a tenant may do: every bound is one that there is, and every test that is said to hold it. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { SERVE_OPTIONS } from "../../src/cli/option-definitions.js";

const repository = fileURLToPath(new URL("../../../", import.meta.url));
const page = readFileSync(join(repository, "docs/security.md"), "utf8");
const [, section = ""] = /^## What a tenant may do\n(.*?)^## /ms.exec(page) ?? [];
const rows = [...section.matchAll(/^\| (.+) \| (.+) \| (.+) \|$/gm)]
  .slice(1)
  .filter(([line]) => !line.startsWith("| ---"));

const flags = new Set(SERVE_OPTIONS.map(({ flag }) => `--${flag}`));
const sources = readdirSync(join(repository, "src"), { recursive: true })
  .map(String)
  .filter((file) => file.endsWith(".ts"))
  .map((file) => readFileSync(join(repository, "src", file), "utf8"))
  .join("\n");

/** What stands in backquotes. */
const quoted = (text: string): readonly string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, word = ""]) => word);

describe("what a tenant may do", () => {
  test("is a table", () => assert.ok(rows.length >= 10));

  for (const [, what = "", bound = "", held = ""] of rows) {
    test(`${what}: has a bound that there is`, () => {
      const named = quoted(bound).filter((word) => /^--|^[A-Z_]+$/.test(word));
      assert.notEqual(named.length, 0);
      for (const word of named) {
        if (word.startsWith("--")) assert.ok(flags.has(word), word);
        else assert.match(sources, new RegExp(`\\bconst ${word}\\b`), word);
      }
    });

    test(`${what}: has a test that there is`, () => {
      const files = quoted(held);
      assert.notEqual(files.length, 0);
      for (const file of files)
        assert.ok(/^test\/.*\.test\.ts$/.test(file) && existsSync(join(repository, file)), file);
    });
  }
});
