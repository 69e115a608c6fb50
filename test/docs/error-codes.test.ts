import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const root = new URL("../../../", import.meta.url);

/** Literal codes of error classes: `readonly code = "X"`, and the members of types named `…ErrorCode`. */
function codesInSource(): Set<string> {
  const codes = new Set<string>();
  for (const file of readdirSync(new URL("src", root), { recursive: true }).map(String)) {
    if (!file.endsWith(".ts")) continue;
    const text = readFileSync(new URL(`src/${file}`, root), "utf8");
    for (const [, code = ""] of text.matchAll(/readonly code = "([^"]+)"/g)) codes.add(code);
    for (const [, members = ""] of text.matchAll(/type \w*ErrorCode =([^;]+);/g)) {
      for (const [, code = ""] of members.matchAll(/"([^"]+)"/g)) codes.add(code);
    }
  }
  return codes;
}

test("every error code has a row in docs/errors.md, and every row a code", () => {
  const rows = [...readFileSync(new URL("docs/errors.md", root), "utf8").matchAll(/^\| `([^`]+)` \|/gm)];
  const documented = rows.map(([, code = ""]) => code).sort();
  assert.deepEqual(documented, [...codesInSource()].sort());
});
