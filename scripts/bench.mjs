// Runs the compiled benchmarks one after another, each in a process of its own. `npm run bench` runs them all; `node scripts/bench.mjs cel` only those
// whose name contains "cel". Files below bench/support are not benchmarks.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../dist/bench", import.meta.url));
const wanted = process.argv.slice(2);
const files = readdirSync(root)
  .filter((file) => file.endsWith(".js") && (wanted.length === 0 || wanted.some((part) => file.includes(part))))
  .sort();
if (files.length === 0) {
  console.error(`no benchmark matches: ${wanted.join(" ")}`);
  process.exit(1);
}
let failed = false;
for (const file of files) {
  console.log(`\n# ${file.replace(/\.js$/, "")}`);
  const { status } = spawnSync(process.execPath, ["--expose-gc", join(root, file)], { stdio: "inherit" });
  failed ||= status !== 0;
}
process.exit(failed ? 1 : 0);
