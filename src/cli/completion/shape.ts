/** The shape of the command line for completions, read from its definition. */
import type { Command, Option } from "commander";

/** One option of a command. */
export interface CompletedOption {
  /** The flag with its dashes. */
  readonly flag: string;
  readonly description: string;
  /** Whether a value follows. */
  readonly takesValue: boolean;
  /** The possible values; empty when any text is valid, such as a file's name. */
  readonly choices: readonly string[];
}

/** One command. */
export interface CompletedCommand {
  readonly name: string;
  readonly description: string;
  readonly options: readonly CompletedOption[];
  /** Possible first arguments; empty when any text is valid. */
  readonly below: readonly string[];
}

/** The whole command line. */
export interface CommandLineShape {
  /** Name of the executable. */
  readonly name: string;
  readonly commands: readonly CompletedCommand[];
  /** Options without a command: those of the default one. */
  readonly defaultOptions: readonly CompletedOption[];
}

/** @param defaultCommand the command without a name on the command line */
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
    // The text in parentheses, variable and default, is only for the help.
    description: option.description.replace(/ \([^()]*\)$/, ""),
    takesValue: placeholder !== undefined,
    choices: option.argChoices ?? (placeholder?.includes("|") ? placeholder.split("|") : []),
  };
}
