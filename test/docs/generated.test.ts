import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { DOCUMENTS_WITH_BLOCKS, generatedFiles, withGeneratedBlocks } from "./generated.js";

const root = new URL("../../../", import.meta.url);
const committed = (file: string) => readFileSync(new URL(file, root), "utf8");

for (const [file, content] of generatedFiles()) {
  test(`${file} is what the code makes (npm run docs)`, () => assert.equal(committed(file), content));
}

for (const file of DOCUMENTS_WITH_BLOCKS) {
  test(`the generated blocks of ${file} are what the code makes (npm run docs)`, () => {
    const text = committed(file);
    assert.equal(text, withGeneratedBlocks(text));
  });
}
