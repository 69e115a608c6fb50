/** `--changed BASE`: the files of resources that git knows to be unchanged since the merge base with BASE are left out. */
import { execFile } from "node:child_process";
import { realpath, stat } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { promisify } from "node:util";
import { type Environment, UsageError } from "../../data/command-io.js";
import { counted } from "../../data/counted.js";
import type { InputFile } from "../../offline/scan/input-files.js";

/** Most bytes of names that git may print. */
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;

const run = promisify(execFile);

/** Runs git, without a shell; returns the parts of its output between NULs. */
type Git = (args: readonly string[], failed?: string) => Promise<readonly string[]>;

const gitIn =
  (cwd: string, env: Environment): Git =>
  async (args, failed = `git ${args[0] ?? ""} failed`) => {
    try {
      const options = { cwd, env: { ...process.env, ...env }, maxBuffer: MAX_OUTPUT_BYTES };
      const { stdout } = await run("git", ["-c", "core.fsmonitor=false", "--literal-pathspecs", ...args], options);
      return stdout.split("\0").filter((name) => name !== "");
    } catch (error) {
      const { code, stderr = "" } = error as NodeJS.ErrnoException & { readonly stderr?: string };
      if (code === "ENOENT") throw new UsageError("--changed needs git, which is not installed", { cause: error });
      const [said = ""] = stderr.split("\n");
      throw new UsageError(`--changed: ${failed}${said === "" ? "" : ` (${said})`}`, { cause: error });
    }
  };

/** Changes in the repository of the working directory, those that are not committed among them. */
interface Changes {
  readonly root: string;
  readonly git: Git;
  /** Paths from the root, deleted ones too. */
  readonly changed: ReadonlySet<string>;
  readonly tracked: ReadonlySet<string>;
}

async function changesSince(base: string, env: Environment): Promise<Changes> {
  const [top = ""] = await gitIn(".", env)(["rev-parse", "--show-toplevel"], "this folder is not in a git repository");
  const root = top.replace(/\n$/, "");
  const git = gitIn(root, env);
  const missing = `there is no commit '${base}' in the repository; a pipeline may have to fetch it first`;
  const [commit = ""] = await git(
    ["rev-parse", "--verify", "--quiet", "--end-of-options", `${base}^{commit}`],
    missing,
  );
  const apart = `'${base}' and HEAD have no commit in common here; a shallow clone may have to be deepened`;
  const [start = ""] = await git(["merge-base", commit.trim(), "HEAD"], apart);
  const differences = ["diff", "--name-only", "--no-renames", "--no-relative", "--ignore-submodules=none", "-z"];
  const changed = new Set(await git([...differences, start.trim(), "--"]));
  return { root, git, changed, tracked: new Set(await git(["ls-files", "-z"])) };
}

/** The names of a path from the root: its own and, of a symbolic link, that of its target. Both may have changed. */
async function namesOf(path: string, root: string): Promise<readonly string[]> {
  const folder = await realpath(dirname(path)).catch(() => resolve(dirname(path)));
  const own = join(folder, basename(path));
  const target = await realpath(path).catch(() => own);
  return [...new Set([own, target])].map((each) => relative(root, each).split(sep).join("/"));
}

/** Whether git does not know a file to be unchanged: it has changed, or git does not track it. */
async function isChanged(file: string, { root, changed, tracked }: Changes): Promise<boolean> {
  return (await namesOf(file, root)).some((name) => !tracked.has(name) || changed.has(name));
}

/** A file that has changed, was deleted or is not tracked among files and folders; undefined: none, or they are outside of the repository. */
async function firstChanged(paths: readonly string[], changes: Changes): Promise<string | undefined> {
  const { root, git, changed } = changes;
  for (const path of paths) {
    for (const own of await namesOf(path, root)) {
      if (own === ".." || own.startsWith("../")) continue;
      // Of a submodule git has only its own name.
      const found = [...changed].find(
        (name) => own === "" || name === own || name.startsWith(`${own}/`) || own.startsWith(`${name}/`),
      );
      if (found !== undefined) return found;
      const below = ["-z", "--", own === "" ? "." : own];
      const [untracked] = await git(["ls-files", "--others", ...below]);
      if (untracked !== undefined) return untracked;
      for (const entry of await git(["ls-files", "--stage", ...below])) {
        const [, link] = /^120000 .*?\t(.*)$/s.exec(entry) ?? [];
        if (link === undefined) continue;
        const file = join(root, link);
        // Folders are read without the folders that links lead to.
        const isFolder = await stat(file)
          .then((found) => found.isDirectory())
          .catch(() => false);
        if (!isFolder && (await isChanged(file, changes))) return link;
      }
    }
  }
  return undefined;
}

/**
 * The files of resources that may have other results than at the base, and what is said about the others. Where a file has changed by which they are
 * judged, that is all of them.
 * @param inputs files and folders of policies, exceptions, values and the like
 * @throws UsageError without git, outside of a repository, and for a base that is not in it or has no commit in common with HEAD
 */
export async function onlyChanged(
  files: readonly InputFile[],
  { base, inputs, env }: { readonly base: string; readonly inputs: readonly string[]; readonly env: Environment },
): Promise<{ readonly files: readonly InputFile[]; readonly note: string }> {
  const changes = await changesSince(base, env);
  const input = await firstChanged(inputs, changes);
  if (input !== undefined) return { files, note: `${input} has changed since ${base}: all resources are judged` };
  const chosen: InputFile[] = [];
  for (const file of files) if (file.name === "-" || (await isChanged(file.name, changes))) chosen.push(file);
  const which =
    chosen.length === 0
      ? "no file of resources has"
      : `${chosen.length} of ${counted(files.length, "file")} of resources have`;
  return { files: chosen, note: `${which} changed since ${base}` };
}
