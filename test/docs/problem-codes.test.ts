import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { codeSections } from "../../src/cli/explain-code.js";
import { PROBLEM_CODES } from "../../src/config/documents/problem-codes.js";

const root = new URL("../../../", import.meta.url);
/** Where problems of files are made. */
const ROOMS = ["cli", "config", "kinds", "loader", "serving"];
/** Where the codes of problems are listed, and where others of the same form belong to errors. */
const LIST = "config/documents/problem-codes.ts";

const sections = codeSections(readFileSync(new URL("docs/errors.md", root), "utf8"));

/** Everything in these rooms that is written like a code, with whether it stands where a problem gets its code. */
function literals(): ReadonlySet<string> {
  const found = new Set<string>();
  for (const room of ROOMS) {
    for (const file of readdirSync(new URL(`src/${room}`, root), { recursive: true }).map(String)) {
      if (!file.endsWith(".ts") || `${room}/${file}` === LIST) continue;
      const text = readFileSync(new URL(`src/${room}/${file}`, root), "utf8");
      for (const [, code = ""] of text.matchAll(/"([A-Z]{3,}_[A-Z_]+)"/g)) found.add(code);
    }
  }
  return found;
}

describe("the codes of problems", () => {
  test("have a section in docs/errors.md each", () => {
    assert.deepEqual(
      PROBLEM_CODES.filter((code) => !sections.has(code)),
      [],
    );
  });

  test("are all used, and so is every section", () => {
    const used = literals();
    assert.deepEqual(
      [...PROBLEM_CODES, ...sections.keys()].filter((code) => !used.has(code)),
      [],
    );
  });

  test("say what to do in every section, in order of name", () => {
    assert.deepEqual([...sections.keys()], [...sections.keys()].sort());
    for (const [code, text] of sections) assert.ok(text.split("\n\n").length >= 2, code);
  });
});
