/** Parses the command line: the command, with its options. Commands are imported when they run, so that `--help` and `cel` start fast. */
import { Command, CommanderError } from "commander";
import { type CommandIo, say, UsageError } from "../data/command-io.js";
import { EXIT } from "../data/exit-codes.js";
import { escapedLines } from "../data/printable.js";
import { VERSION } from "../data/version.js";
import { type AddCommand, type CommandContext, examplesOf, sortOptions } from "./definition.js";
import { addApply } from "./definitions/apply.js";
import { addAudit } from "./definitions/audit.js";
import { addBench } from "./definitions/bench.js";
import { addCel } from "./definitions/cel.js";
import { addCheck } from "./definitions/check.js";
import { addCompletion } from "./definitions/completion.js";
import { addConvert } from "./definitions/convert.js";
import { addDigest } from "./definitions/digest.js";
import { addDocs } from "./definitions/docs.js";
import { addEval } from "./definitions/eval.js";
import { addExplain } from "./definitions/explain.js";
import { addHelp } from "./definitions/help.js";
import { addInspect } from "./definitions/inspect.js";
import { addPlay } from "./definitions/play.js";
import { addPolicies, addRm } from "./definitions/policies.js";
import { addPull } from "./definitions/pull.js";
import { addPush } from "./definitions/push.js";
import { addRead } from "./definitions/read.js";
import { addReplay } from "./definitions/replay.js";
import { addScaffold } from "./definitions/scaffold.js";
import { addServe } from "./definitions/serve.js";
import { addTest } from "./definitions/test.js";
import { addVerify } from "./definitions/verify.js";
import { addVersion } from "./definitions/version.js";
import { addWebhooks } from "./definitions/webhooks.js";
import { exitCodeOf, withAllowEmpty } from "./exit-codes.js";
import { painted, paintFor, plain } from "./look/paint.js";
import { optionNote, unknownCommand } from "./unknown-words.js";

/** All commands, in the order of the help, with its headings. */
const COMMANDS: readonly (readonly [heading: string, commands: readonly AddCommand[]])[] = [
  ["Serve", [addServe, addPlay]],
  [
    "Write and test",
    [addScaffold, addConvert, addCheck, addExplain, addEval, addBench, addTest, addApply, addReplay, addCel, addRead],
  ],
  ["Cluster", [addAudit, addWebhooks]],
  ["Modules", [addInspect, addPull, addPush, addVerify, addDigest, addPolicies, addRm]],
  ["Other", [addCompletion, addDocs, addHelp, addVersion]],
];

/** The first of them, which is the default. */
const SERVE_ALONE: typeof COMMANDS = [["Serve", [addServe]]];

/**
 * Whether the command is `serve`, without a request for help: then its options are enough, and defining those of all commands takes a twentieth of a
 * server's start.
 */
function isServe(args: readonly string[]): boolean {
  const [first = "serve"] = args;
  const asksForHelp = args.some((arg) => /^(?:-h|--help|-v|-V|--version)$/.test(arg));
  return (first === "serve" || first.startsWith("--")) && !asksForHelp;
}

/**
 * Runs a command line.
 * @returns the exit code; for `serve` once the server has stopped
 */
export async function runCommandLine(args: readonly string[], io: CommandIo): Promise<number> {
  let exitCode = 0;
  const done = (code: number): void => {
    exitCode = code;
  };
  const program = commandLine(io, done, isServe(args) ? SERVE_ALONE : COMMANDS);
  let command = program;
  program.hook("preAction", (_, chosen) => {
    command = chosen;
  });
  try {
    const [first = "serve"] = args;
    if (!first.startsWith("-") && !program.commands.some((each) => each.name() === first))
      throw new UsageError(unknownCommand(first, program));
    await program.parseAsync(first === "-v" ? ["version"] : [...args], { from: "user" });
    return exitCodeOf(command, exitCode);
  } catch (error) {
    if (error instanceof CommanderError) {
      if (HELP_HELPS.has(error.code)) io.stderr.write(moreOf(program, args[0], error));
      return error.exitCode === 0 ? EXIT.FINE : EXIT.NOT_ASKED;
    }
    say(io.stderr, `Error: ${error instanceof Error ? error.message : String(error)}`);
    return error instanceof UsageError ? EXIT.NOT_ASKED : EXIT.NO;
  }
}

/** Errors for which the help is useful. A wrong value is not among them: its message has the valid ones. */
const HELP_HELPS: ReadonlySet<string> = new Set([
  "commander.unknownOption",
  "commander.excessArguments",
  "commander.missingArgument",
  "commander.optionMissingArgument",
]);

/** A pointer to the help of a command, and a guess of the intended word. */
function moreOf(program: Command, first: string | undefined, { code, message }: CommanderError): string {
  const name = first === undefined || first.startsWith("-") ? "serve" : first;
  const command = program.commands.find((each) => each.name() === name);
  if (command === undefined) return "";
  const [, flag] = /unknown option '(.*)'$/m.exec(message) ?? [];
  const guess = flag === undefined || message.includes("Did you mean") ? undefined : optionNote(flag, command);
  const takesObject = command.options.some(({ long }) => long === "--object");
  const note =
    code === "commander.excessArguments" && takesObject
      ? "(an object is named by --object, as in --object FILE)"
      : guess;
  const [example] = code === "commander.missingArgument" ? examplesOf(command) : [];
  const typed = example === undefined ? "" : `For example, to ${example[1]}:\n  ${example[0]}\n`;
  return `${note === undefined ? "" : `${note}\n`}(policy-server help ${name} says more)\n${typed}`;
}

/**
 * The definition of the command line, with all commands under their headings: for its documentation, too.
 * @param done receives the exit code of a command that has run
 * @param headings the commands that it has. Default: all
 */
export function commandLine(io: CommandIo, done: CommandContext["done"], headings = COMMANDS): Command {
  const program = new Command("policy-server")
    .description("Serves admission policies of every kind, and groups of them.")
    .usage("[command] [options]")
    .version(`policy-server ${VERSION}`, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help; behind a command, that of the command")
    .exitOverride()
    .showSuggestionAfterError()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      outputError: (text, write) => write(escapedLines(text).replace(/^error: /, "Error: ")),
      getOutHasColors: () => paintFor(io.stdout, io.env) !== plain,
      getErrHasColors: () => paintFor(io.stderr, io.env) !== plain,
    })
    .configureHelp({
      styleTitle: (title) => painted("strong", title),
      styleCommandText: (text) => painted("name", text),
      subcommandTerm: (command) => command.name(),
    });

  const whole = (): Command => (headings === COMMANDS ? program : commandLine(io, done));
  for (const [heading, commands] of headings) {
    program.commandsGroup(`${heading}:`);
    for (const add of commands) add(program, { io, done, whole });
  }
  for (const command of program.commands) {
    withAllowEmpty(command);
    command.helpOption("-h, --help", "print this help");
    sortOptions(command);
  }
  return program.addHelpText("after", "\nMore about a command, with examples: policy-server help <command>");
}
