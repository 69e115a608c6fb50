#!/usr/bin/env -S MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=32768 node --max-semi-space-size=8
/** The executable: arguments to one command to an exit code. */

/** The exit code as if the signal SIGPIPE had ended the process: the rest of the output was not read, so that it is not a success. */
const EXIT_NOBODY_READS = 141;

// `check … | head`: the reader of the pipe has gone.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(EXIT_NOBODY_READS);
  process.stderr.write(`Error: cannot write to standard output: ${error.message}\n`);
  process.exit(1);
});

/** How long what is left may hold the process once its command has ended: a call to a collector that never answers would for many seconds. */
const LINGER_MS = 200;

/** Exit code on a Node that is too old: the same as of a command line that cannot be carried out (data/exit-codes, which is loaded behind this). */
const EXIT_OLD_NODE = 2;

// Old versions of Node have to be able to read this file, and what it imports before it knows which one this is.
async function main(): Promise<void> {
  try {
    await import("./data/node-version.js");
  } catch (error) {
    process.stderr.write(`Error: ${(error as Error).message}\n`);
    process.exitCode = EXIT_OLD_NODE;
    return;
  }
  const { runCommandLine } = await import("./cli/command-line.js");
  process.exitCode = await runCommandLine(process.argv.slice(2), {
    env: process.env,
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
  });
  // The empty write comes last: whatever a slow reader has not taken yet is written out first.
  setTimeout(() => process.stdout.write("", () => process.exit()), LINGER_MS).unref();
}

void main();

export {};
