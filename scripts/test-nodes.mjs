// Tests of what reads JSON, CEL, guests, admission, replay, the library and a newcomer's first steps on other versions of Node than this one: `npm run test-nodes` on all that are named in nodes.mjs,
// `npm run test-nodes -- 26.10.0` on some, `-- --short 26.10.0` without what takes longest. A version that is not to be had fails the run, after the others.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { nodeOf, VERSIONS } from "./nodes.mjs";

/** What takes a minute by itself. */
const LONG = ["conformance/", "wasm/"];
const SHORT = [
  ...["admission/", "architecture/", "cel/", "cli/replay.", "contract/", "data/", "fuzz/escaped-keys.", "library/"],
  ...["newcomer/", "offline/scan/split/", "wasm/ambiguous-answers.", "wasm/protocols/opa/", "wasm/payload."],
];

const root = fileURLToPath(new URL("../dist/test", import.meta.url));
const sources = fileURLToPath(new URL("../test", import.meta.url));
const wanted = process.argv.slice(2).filter((version) => version !== "--short");
const parts = process.argv.includes("--short") ? SHORT : [...LONG, ...SHORT];
const files = readdirSync(root, { recursive: true, encoding: "utf8" })
  // The compiler leaves the output of removed sources behind.
  .filter((file) => file.endsWith(".test.js") && existsSync(join(sources, file.replace(/\.js$/, ".ts"))))
  .filter((file) => parts.some((part) => file.startsWith(part)))
  .sort()
  .map((file) => join(root, file));

/** A Node that is too old to run on, which is told so in one line. */
const TOO_OLD = ["12", "18"];
for (const version of wanted.length > 0 ? [] : TOO_OLD) {
  const main = fileURLToPath(new URL("../dist/server/main.js", import.meta.url));
  const { status, stderr } = spawnSync(nodeOf(version), [main, "check"], { encoding: "utf8" });
  if (status === 2 && /^Error: .* needs Node\.js .*\n$/.test(stderr)) continue;
  console.error(`Node ${version}: ${stderr}`);
  process.exitCode = 1;
}

for (const version of wanted.length > 0 ? wanted : VERSIONS) {
  let node;
  try {
    node = nodeOf(version);
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
    continue;
  }
  const began = performance.now();
  const { status, stdout } = spawnSync(
    node,
    ["--test", `--test-concurrency=${availableParallelism()}`, "--test-reporter=spec", ...files],
    { encoding: "utf8", maxBuffer: 64 * 1024 * 1024, stdio: ["ignore", "pipe", "inherit"] },
  );
  const named = spawnSync(node, ["--version"], { encoding: "utf8" }).stdout.trim();
  const [passed, failed] = ["pass", "fail"].map(
    (word) => new RegExp(`^ℹ ${word} (\\d+)$`, "m").exec(stdout)?.[1] ?? "?",
  );
  const seconds = Math.round((performance.now() - began) / 1_000);
  console.log(`Node ${named}: ${passed} passed, ${failed} failed, ${seconds} s`);
  if (status === 0) continue;
  process.exitCode = 1;
  console.log(stdout.slice(stdout.lastIndexOf("failing tests:")));
}
