#!/usr/bin/env node
/** The executable: arguments to one command to an exit code. */
import { runCommandLine } from "./commands/command-line.js";

// `check … | head`: nobody reads on, and that is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

/** How long what is left may hold the process once its command has ended: a call to a collector that never answers would for many seconds. */
const LINGER_MS = 200;

process.exitCode = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
});
// The empty write comes last: whatever a slow reader has not taken yet is written out first.
setTimeout(() => process.stdout.write("", () => process.exit()), LINGER_MS).unref();
