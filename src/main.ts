#!/usr/bin/env node
/** The executable: arguments to one command to an exit code. */
import { runCommandLine } from "./commands/command-line.js";

// `check … | head`: nobody reads on, and that is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

process.exitCode = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
});
