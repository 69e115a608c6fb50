/**
 * The command line: which command, with which options. Commands are imported when they run, so that `--help` and `cel` start fast.
 */
import { Command, CommanderError } from "commander";
import type { AddCommand } from "./definition.js";
import { addApply } from "./definitions/apply.js";
import { addAudit } from "./definitions/audit.js";
import { addCel } from "./definitions/cel.js";
import { addCheck } from "./definitions/check.js";
import { addCompletion } from "./definitions/completion.js";
import { addEval } from "./definitions/eval.js";
import { addRead } from "./definitions/read.js";
import { addServe } from "./definitions/serve.js";
import { addTest } from "./definitions/test.js";
import { addWebhooks } from "./definitions/webhooks.js";
import { type CommandIo, UsageError } from "./io.js";

/** Exit code for a command line that cannot be carried out. */
const EXIT_USAGE = 2;
/** Exit code for a command that failed unexpectedly. */
const EXIT_FAILURE = 1;

/** All commands, in the order of the help. */
const COMMANDS: readonly AddCommand[] = [
  addServe,
  addCheck,
  addEval,
  addTest,
  addApply,
  addAudit,
  addCel,
  addRead,
  addWebhooks,
  addCompletion,
];

/**
 * Runs a command line.
 * @returns the exit code; for `serve` once the server has stopped
 */
export async function runCommandLine(args: readonly string[], io: CommandIo): Promise<number> {
  let exitCode = 0;
  const program = commandLine(io, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync([...args], { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
    io.stderr.write(`Error: ${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof UsageError ? EXIT_USAGE : EXIT_FAILURE;
  }
}

function commandLine(io: CommandIo, done: (exitCode: number) => void): Command {
  const program = new Command("policy-server")
    .description("Serves admission policies of every kind, and groups of them.")
    .exitOverride()
    .showSuggestionAfterError()
    .configureOutput({ writeOut: (text) => io.stdout.write(text), writeErr: (text) => io.stderr.write(text) });

  for (const add of COMMANDS) add(program, { io, done });
  return program;
}
