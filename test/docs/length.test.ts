/** Pages for maintainers stay short: architecture.md is read in one sitting, and a page of design/ begins with its decision. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";

const docs = new URL("../../../docs/", import.meta.url);
const read = (page: string): string => readFileSync(new URL(page, docs), "utf8");
const wordsOf = (text: string): number => text.split(/\s+/).filter((word) => word !== "").length;

test("docs/architecture.md has at most 1,500 words", () => assert.ok(wordsOf(read("architecture.md")) <= 1500));

describe("docs/design", () => {
  for (const name of readdirSync(new URL("design/", docs))) {
    const text = read(`design/${name}`);
    test(`${name} has at most 1,200 words`, () => assert.ok(wordsOf(text) <= 1200, `${wordsOf(text)} words`));
    test(`${name} begins with what was decided`, () => assert.match(text, /^# .+\n\nDecided: /));
  }
});
