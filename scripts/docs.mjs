// Writes the generated parts of docs/: whole files, and blocks between `<!-- generated NAME -->` and `<!-- end -->`.
// A test fails when what is committed differs; `npm run docs` (after a build) puts it right.
import { readFileSync, writeFileSync } from "node:fs";
import { DOCUMENTS_WITH_BLOCKS, generatedFiles, withGeneratedBlocks } from "../dist/test/docs/generated.js";

for (const [file, content] of generatedFiles()) writeFileSync(new URL(`../${file}`, import.meta.url), content);
for (const file of DOCUMENTS_WITH_BLOCKS) {
  const url = new URL(`../${file}`, import.meta.url);
  writeFileSync(url, withGeneratedBlocks(readFileSync(url, "utf8")));
}
