/** `test --watch`: runs the tests again whenever one of their files has changed. */

import { readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type CommandIo, say, UsageError } from "../../data/command-io.js";
import { counted } from "../../data/counted.js";
import { watchFiles } from "../../server/file-watch.js";
import { isTerminal, paintFor } from "../look/paint.js";

/** Milliseconds between checks: a change counts after one check without further changes, so that half-written files don't start a run. */
const LOOK_INTERVAL_MS = 250;
/** Most watched files: each is checked several times a second. */
const MAX_FILES = 5000;
/** Files of tests. */
const WATCHED = /\.(ya?ml|json|wasm|toml|csr|pem|der)$/;
/** Folders with foreign files. */
const FOREIGN = /^(node_modules|\..+)$/;
const CLEAR = "\u001b[2J\u001b[3J\u001b[H";
/** Longest delay of a timer; a process without a timer would end. */
const KEEP_ALIVE_MS = 2 ** 31 - 1;

/** One run: reports the files that it has read; resolves with the exit code. */
export type TestRun = (touched: (files: readonly string[]) => void) => Promise<number>;

/** Options of watching. */
export interface WatchOptions {
  /** Test files and folders, as given. */
  readonly paths: readonly string[];
  readonly io: Pick<CommandIo, "stdout" | "stderr" | "env">;
  /** Resolves when the user stops it. */
  readonly stopped: Promise<unknown>;
  /** Milliseconds between checks. */
  readonly interval?: number;
}

/**
 * Runs the tests, and again after every change, until it is stopped. Errors in files are printed and don't end it.
 * @returns 0: the output shows failures
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

/** Folders, for added and removed files, and possible files of tests in them; for a file those beside it. */
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
