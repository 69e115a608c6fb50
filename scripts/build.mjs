// Builds everything that runs: TypeScript into dist/, the WASM modules of policies/ and test/fixtures/, then what is shipped into dist/server, and the page into
// dist/page.
// `npm ci` runs this through the `dependencies` script, so a fresh clone needs no other step; unlike `prepare`, installations of the package know nothing of it.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: "inherit" });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

run(process.execPath, ["node_modules/typescript/bin/tsc"]);
run(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "src/page/browser"]);
if (existsSync(new URL("build-wasm.mjs", import.meta.url))) run(process.execPath, ["scripts/build-wasm.mjs"]);
run(process.execPath, ["scripts/join.mjs"]);
run(process.execPath, ["scripts/types.mjs"]);
