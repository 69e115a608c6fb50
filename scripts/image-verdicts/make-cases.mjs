/**
 * Writes the cases of test/vectors/image-validating, without answers: image-verdicts adds those. See README.md.
 *
 * node make-cases.mjs LAYOUT > cases.jsonl
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { attestationCases } from "./cases-attestations.mjs";
import { policyCases } from "./cases-policies.mjs";
import { registryCases } from "./cases-registries.mjs";
import { signatureCases } from "./cases-signatures.mjs";
import { variableCases } from "./cases-variables.mjs";
import { namesOf } from "./names.mjs";

const layout = process.argv[2];
if (layout === undefined) {
  console.error("usage: node make-cases.mjs LAYOUT");
  process.exit(2);
}
const text = (name) => readFileSync(join(layout, name), "utf8");
const names = namesOf(JSON.parse(text("index.json")).manifests, text);
const ids = new Set();
for (const group of [signatureCases, attestationCases, policyCases, variableCases, registryCases]) {
  for (const one of group(names)) {
    if (ids.has(one.id)) throw new Error(`${one.id} stands twice`);
    ids.add(one.id);
    process.stdout.write(`${JSON.stringify(one)}\n`);
  }
}
