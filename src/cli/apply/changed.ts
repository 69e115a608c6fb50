/** `--changed BASE`: the files of resources that git knows to be unchanged since the merge base with BASE are left out. */
import { execFile } from "node:child_process";
import { realpath } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { promisify } from "node:util";
import { type Environment, UsageError } from "../../data/command-io.js";
import { counted } from "../../data/counted.js";
import type { InputFile } from "../../offline/scan/input-files.js";

/** Most bytes of names that git may print. */
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;

const run = promisify(execFile);

/** Changes in the repository of the working directory, those that are not committed among them. */
export class ChangedFiles {
  readonly #root: string;
  readonly #env: Environment;
  /** Paths from the root, deleted ones too. */
  readonly #changed: ReadonlySet<string>;
  readonly #tracked: ReadonlySet<string>;

  private constructor(
    root: string,
    env: Environment,
    names: { readonly changed: string[]; readonly tracked: string[] },
  ) {
    this.#root = root;
    this.#env = env;
    this.#changed = new Set(names.changed);
    this.#tracked = new Set(names.tracked);
  }

  /**
   * Asks git.
   * @param base a commit, branch or tag
   * @throws UsageError without git, outside of a repository, and for a base that is not in it or has no commit in common with HEAD
   */
  static async since(base: string, env: Environment): Promise<ChangedFiles> {
    const root = (
      await git(["rev-parse", "--show-toplevel"], ".", env, () => "this folder is not in a git repository")
    ).replace(/\n$/, "");
    const missing = () => `there is no commit '${base}' in the repository; a pipeline may have to fetch it first`;
    const commit = await git(
      ["rev-parse", "--verify", "--quiet", "--end-of-options", `${base}^{commit}`],
      root,
      env,
      missing,
    );
    const apart = () => `'${base}' and HEAD have no commit in common here; a shallow clone may have to be deepened`;
    const start = await git(["merge-base", commit.trim(), "HEAD"], root, env, apart);
    const changed = await git(
      ["diff", "--name-only", "--no-renames", "--no-relative", "-z", start.trim(), "--"],
      root,
      env,
    );
    const tracked = await git(["ls-files", "-z"], root, env);
    return new ChangedFiles(root, env, { changed: namesIn(changed), tracked: namesIn(tracked) });
  }

  /** Whether git does not know a file to be unchanged: it has changed, or git does not track it. */
  async isChanged(file: string): Promise<boolean> {
    const folder = await realpath(dirname(file));
    // Of a symbolic link both may have changed, itself and its target.
    for (const path of [join(folder, basename(file)), await realpath(file)]) {
      const name = this.#nameOf(path);
      if (!this.#tracked.has(name) || this.#changed.has(name)) return true;
    }
    return false;
  }

  /** A file that has changed, was deleted or is not tracked among files and folders of the repository; undefined: none, or they are outside. */
  async firstChanged(paths: readonly string[]): Promise<string | undefined> {
    for (const path of paths) {
      const own = this.#nameOf(await realpath(path).catch(() => resolve(path)));
      if (own === ".." || own.startsWith("../")) continue;
      const inside = (name: string) => own === "" || name === own || name.startsWith(`${own}/`);
      const found = [...this.#changed].find(inside);
      if (found !== undefined) return found;
      const others = ["--literal-pathspecs", "ls-files", "--others", "-z", "--", own === "" ? "." : own];
      const [untracked] = namesIn(await git(others, this.#root, this.#env));
      if (untracked !== undefined) return untracked;
    }
    return undefined;
  }

  #nameOf(path: string): string {
    return relative(this.#root, path).split(sep).join("/");
  }
}

const namesIn = (output: string): string[] => output.split("\0").filter((name) => name !== "");

/** Runs git, without a shell. */
async function git(
  args: readonly string[],
  cwd: string,
  env: Environment,
  failed: () => string = () => `git ${args[0] ?? ""} failed`,
): Promise<string> {
  try {
    const options = { cwd, env: { ...process.env, ...env }, maxBuffer: MAX_OUTPUT_BYTES };
    return (await run("git", ["-c", "core.fsmonitor=false", ...args], options)).stdout;
  } catch (error) {
    const { code, stderr = "" } = error as NodeJS.ErrnoException & { readonly stderr?: string };
    if (code === "ENOENT") throw new UsageError("--changed needs git, which is not installed", { cause: error });
    const [said = ""] = stderr.split("\n");
    throw new UsageError(`--changed: ${failed()}${said === "" ? "" : ` (${said})`}`, { cause: error });
  }
}

/** Files of resources, and what is said about those that are left out. */
export interface ChosenFiles {
  readonly files: readonly InputFile[];
  readonly note: string;
}

/**
 * The files of resources that may have other results than at the base. Where a file has changed by which they are judged, that is all of them.
 * @param inputs files and folders of policies, exceptions, values and the like
 * @throws UsageError as {@link ChangedFiles.since}
 */
export async function onlyChanged(
  files: readonly InputFile[],
  { base, inputs, env }: { readonly base: string; readonly inputs: readonly string[]; readonly env: Environment },
): Promise<ChosenFiles> {
  const changes = await ChangedFiles.since(base, env);
  const input = await changes.firstChanged(inputs);
  if (input !== undefined) return { files, note: `${input} has changed since ${base}: all resources are judged` };
  const chosen: InputFile[] = [];
  for (const file of files) if (file.name === STDIN || (await changes.isChanged(file.name))) chosen.push(file);
  const which =
    chosen.length === 0
      ? "no file of resources has"
      : `${chosen.length} of ${counted(files.length, "file")} of resources have`;
  return { files: chosen, note: `${which} changed since ${base}` };
}

const STDIN = "-";
