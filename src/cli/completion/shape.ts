/** What completions need to know of the command line, read from the definition that parses it. */
import type { Command, Option } from "commander";

/** One option of a command. */
export interface CompletedOption {
  /** With its dashes. */
  readonly flag: string;
  readonly description: string;
  /** Whether a value follows. */
  readonly takesValue: boolean;
  /** The values there are; empty when any text will do, a file's name for example. */
  readonly choices: readonly string[];
}

/** One command. */
export interface CompletedCommand {
  readonly name: string;
  readonly description: string;
  readonly options: readonly CompletedOption[];
  /** What its first argument may be; empty when any text will do. */
  readonly below: readonly string[];
}

/** The whole command line. */
export interface CommandLineShape {
  /** Of the executable. */
  readonly name: string;
  readonly commands: readonly CompletedCommand[];
  /** What is understood without a command: the options of the default one. */
  readonly defaultOptions: readonly CompletedOption[];
}

/** @param defaultCommand the command that runs when none is named */
export function shapeOf(program: Command, defaultCommand: string): CommandLineShape {
  const commands = program.commands.map((command) => ({
    name: command.name(),
    description: command.description(),
    options: command.createHelp().visibleOptions(command).map(optionOf),
    below: command.registeredArguments[0]?.argChoices ?? [],
  }));
  const fallback = commands.find(({ name }) => name === defaultCommand);
  return { name: program.name(), commands, defaultOptions: fallback?.options ?? [] };
}

function optionOf(option: Option): CompletedOption {
  const [, placeholder] = /<(.+)>/.exec(option.flags) ?? [];
  return {
    flag: option.long ?? option.flags,
    // What stands in parentheses, variable and default, is for the help.
    description: option.description.replace(/ \([^()]*\)$/, ""),
    takesValue: placeholder !== undefined,
    choices: option.argChoices ?? (placeholder?.includes("|") ? placeholder.split("|") : []),
  };
}
