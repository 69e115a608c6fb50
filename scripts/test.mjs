// Runs the compiled tests with node's own test runner. `npm test` runs them all;
// `node scripts/test.mjs cel` only the files whose path below dist/test contains "cel".
import { existsSync, readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, relative } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { fileURLToPath } from "node:url";

// Tests of the executable run what is shipped.
await import("./join.mjs");

const root = fileURLToPath(new URL("../dist/test", import.meta.url));
const sources = fileURLToPath(new URL("../test", import.meta.url));
const wanted = process.argv.slice(2);
const files = readdirSync(root, { recursive: true })
  .map(String)
  // The compiler leaves the output of removed sources behind.
  .filter((file) => existsSync(join(sources, file.replace(/\.js$/, ".ts"))))
  .filter((file) => file.endsWith(".test.js") && (wanted.length === 0 || wanted.some((part) => file.includes(part))))
  .sort()
  .map((file) => join(root, file));
if (files.length === 0) {
  console.error(`no test file below dist/test matches: ${wanted.join(" ")}`);
  process.exit(1);
}

/** Files whose time is printed. */
const SLOWEST = 20;

let passed = 0;
let failed = 0;
// As many files at a time as there are processors: by itself the runner leaves one idle, which on two is half of them.
const stream = run({ files, concurrency: availableParallelism(), timeout: 300_000 });
stream.on("test:pass", ({ details }) => {
  if (details.type !== "suite") passed += 1;
});
stream.on("test:fail", () => {
  failed += 1;
});
/** What the tests of a file took, in milliseconds. */
const times = new Map();
stream.on("test:complete", ({ file, nesting, details }) => {
  if (nesting === 0 && file !== undefined) times.set(file, (times.get(file) ?? 0) + details.duration_ms);
});
stream.compose(new spec()).pipe(process.stdout);
stream.on("end", () => {
  process.exitCode = failed > 0 ? 1 : 0;
  process.on("exit", () => {
    if (times.size > SLOWEST) printSlowest();
    console.log(`${passed} passed, ${failed} failed`);
  });
});

function printSlowest() {
  const durations = [...times].map(([file, duration]) => [duration, relative(root, file)]);
  console.log(`the ${SLOWEST} slowest files:`);
  for (const [duration, file] of durations.sort(([a], [b]) => b - a).slice(0, SLOWEST))
    console.log(`${(duration / 1000).toFixed(1).padStart(6)} s  ${file}`);
}
