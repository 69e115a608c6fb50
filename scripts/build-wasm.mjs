// Compiles the WASM modules that this repository brings along: src/**/*.wat (text format, part of the server) to dist/src/**/*.wasm, where the
// compiler puts the rest of src; policies/*/assembly/policy.ts (AssemblyScript, example policies) to policies/*/policy.wasm; and the guests of
// the tests, test/fixtures/**/*.ts (AssemblyScript) and *.wat, to *.wasm beside them. A module that is newer than everything it is made of is
// left alone. What is not there is not compiled: an image is built without policies and tests.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import asc from "assemblyscript/asc";
import binaryen from "binaryen";

const root = fileURLToPath(new URL("..", import.meta.url));
// json-as reserves a cache of a megabyte in every instance unless told otherwise; an instance here lives for one call.
process.env.JSON_CACHE = "256";

/** Files below a folder, or none when it is not there. */
function files(folder) {
  try {
    return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
  } catch {
    return [];
  }
}

function modified(file) {
  try {
    return statSync(file).mtimeMs;
  } catch {
    return 0;
  }
}

const always = ["package-lock.json", "scripts/build-wasm.mjs"].map((file) => join(root, file));
// Example policies name the kit as anybody's policy does; here it is no package in node_modules, but this folder.
const PACKAGE = join("node_modules", "policy-group-gateway");
const kit = files("assemblyscript");

/** @returns jobs: what is made, of what, from which entry */
function jobs() {
  const server = files("src")
    .filter((file) => file.endsWith(".wat"))
    .map((entry) => ({
      entry,
      output: join(root, "dist", relative(root, entry)).replace(/\.wat$/, ".wasm"),
      inputs: [entry],
      optimized: true,
    }));
  const policies = files("policies")
    .filter((file) => file.endsWith(join("assembly", "policy.ts")))
    .map((entry) => ({
      entry,
      output: join(dirname(dirname(entry)), "policy.wasm"),
      inputs: [...files(relative(root, dirname(entry))), ...kit],
    }));
  const fixtures = files("test/fixtures")
    .filter((file) => file.endsWith(".wat") || file.endsWith(".as.ts"))
    .map((entry) => ({ entry, output: entry.replace(/(\.as\.ts|\.wat)$/, ".wasm"), inputs: [entry, ...kit] }));
  return [...server, ...policies, ...fixtures];
}

async function assemblyScript(entry) {
  const written = {};
  const { error, stderr } = await asc.main(
    [
      relative(root, entry),
      "--outFile",
      "out.wasm",
      "--transform",
      "json-as",
      "--optimizeLevel",
      "3",
      "--shrinkLevel",
      "2",
      "--converge",
      // One call per instance: nothing is ever freed.
      "--runtime",
      "stub",
      "--disableWarning",
      "--use",
      "abort=~lib/policy-group-gateway/assemblyscript/abort/abort",
    ],
    {
      readFile: (name, base) => {
        try {
          const file = join(base === "." ? "" : relative(root, join(root, base)), name);
          const own = file.startsWith(PACKAGE) ? relative(PACKAGE, file) : file;
          return readFileSync(join(root, own), "utf8");
        } catch {
          return null;
        }
      },
      writeFile: (name, contents) => {
        written[name] = contents;
      },
    },
  );
  if (error) throw new Error(`${relative(root, entry)}: ${error.message}\n${stderr.toString()}`);
  return written["out.wasm"];
}

/** @param optimized a test's guest stays as it is written, because some are about what an optimizer would take away */
function wat(entry, optimized) {
  const module = binaryen.parseText(readFileSync(entry, "utf8"));
  try {
    module.setFeatures(binaryen.Features.All);
    if (optimized) {
      binaryen.setOptimizeLevel(3);
      binaryen.setShrinkLevel(0);
      module.optimize();
    }
    return module.emitBinary();
  } finally {
    module.dispose();
  }
}

for (const { entry, output, inputs, optimized = false } of jobs()) {
  if (modified(output) > Math.max(...[...inputs, ...always].map(modified))) continue;
  const bytes = entry.endsWith(".wat") ? wat(entry, optimized) : await assemblyScript(entry);
  mkdirSync(dirname(output), { recursive: true });
  writeFileSync(output, bytes);
  console.log(`${relative(root, output)}: ${bytes.length} bytes`);
}
