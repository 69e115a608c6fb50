/** `test --watch`: runs the tests again whenever something that they are made of has changed. */

import { readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type CommandIo, say, UsageError } from "../../data/command-io.js";
import { counted } from "../../data/counted.js";
import { watchFiles } from "../../server/file-watch.js";
import { isTerminal, paintFor } from "../look/paint.js";

/** Milliseconds between looks: a change is taken when it has stood still for one, so that a file that is half written is no reason. */
const LOOK_INTERVAL_MS = 250;
/** Most files that are looked after: each is looked at several times a second. */
const MAX_FILES = 5000;
/** What tests are made of. */
const WATCHED = /\.(ya?ml|json|wasm|toml|csr|pem|der)$/;
/** Folders with files of others. */
const FOREIGN = /^(node_modules|\..+)$/;
const CLEAR = "\u001b[2J\u001b[3J\u001b[H";
/** A timer holds no longer than that, and a process without any ends. */
const KEEP_ALIVE_MS = 2 ** 31 - 1;

/** One run: told which files it has read; resolves with the exit code. */
export type TestRun = (touched: (files: readonly string[]) => void) => Promise<number>;

/** What watching needs. */
export interface WatchOptions {
  /** Test files and folders, as given. */
  readonly paths: readonly string[];
  readonly io: Pick<CommandIo, "stdout" | "stderr" | "env">;
  /** Resolves when the user has had enough. */
  readonly stopped: Promise<unknown>;
  /** Milliseconds between looks. */
  readonly interval?: number;
}

/**
 * Runs the tests, and again after every change, until told to stop. Mistakes in files are told and don't end it.
 * @returns 0: whoever watches sees what failed
 */
export async function watchTests(run: TestRun, { paths, io, stopped, interval }: WatchOptions): Promise<number> {
  const paint = paintFor(io.stdout, io.env);
  let files: readonly string[] = [];
  const round = async (): Promise<void> => {
    const touched = new Set<string>();
    try {
      await run((read) => {
        for (const file of read) touched.add(file);
      });
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      say(io.stderr, `Error: ${error.message}`);
    }
    for (const path of paths) for (const file of await filesBelow(path)) touched.add(file);
    files = [...touched].slice(0, MAX_FILES);
    const more = touched.size > MAX_FILES ? `of ${touched.size} the first ` : "";
    io.stdout.write(
      `${paint("quiet", `watching ${more}${counted(files.length, "file or folder", "files and folders")}; Ctrl+C ends`)}\n`,
    );
  };
  await round();
  const keepAlive = setInterval(() => {}, KEEP_ALIVE_MS);
  const watch = await watchFiles({
    paths: () => files,
    changed: () => {
      io.stdout.write(isTerminal(io.stdout) ? CLEAR : "\n");
      io.stdout.write(`${paint("strong", "something has changed: running again")}\n`);
      return round();
    },
    interval: interval ?? LOOK_INTERVAL_MS,
  });
  await stopped;
  watch.close();
  clearInterval(keepAlive);
  return 0;
}

/** Folders, for what is added and removed, and the files in them that tests may be made of; of a file those beside it. */
async function filesBelow(path: string): Promise<readonly string[]> {
  const isFolder = (await stat(path).catch(() => undefined))?.isDirectory() === true;
  const found: string[] = [];
  const waiting = [isFolder ? path : dirname(path)];
  for (let folder = waiting.pop(); folder !== undefined && found.length < MAX_FILES; folder = waiting.pop()) {
    found.push(folder);
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      if (entry.isDirectory() && isFolder && !FOREIGN.test(entry.name)) waiting.push(join(folder, entry.name));
      else if (WATCHED.test(entry.name)) found.push(join(folder, entry.name));
    }
  }
  return found;
}
