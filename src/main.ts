#!/usr/bin/env node
/** The executable: arguments to one command to an exit code. */
import { runCommandLine } from "./commands/command-line.js";

process.exitCode = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
});
