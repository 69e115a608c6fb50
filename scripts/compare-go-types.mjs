// Compares what the compiled sources make of objects of built-in kinds with what Kubernetes' code makes of them (scripts/go-types, `cases`).
//
//     node scripts/compare-go-types.mjs <file of cases>
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";

const { differences } = await import("../dist/test/kubernetes/go-types/cases.js");
const { parseJson } = await import("../dist/src/data/json.js");

const file = process.argv[2];
if (file === undefined) {
  console.error("usage: node scripts/compare-go-types.mjs <file of cases>");
  process.exit(2);
}
let cases = 0;
let different = 0;
for await (const line of createInterface({ input: createReadStream(file) })) {
  const found = differences(parseJson(line));
  cases++;
  if (found.length === 0) continue;
  different++;
  console.log(found.join("\n"));
}
console.log(`${cases} objects, ${different} of them different`);
process.exitCode = different === 0 ? 0 : 1;
