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
  /** Its own, and those of the commands below it. */
  readonly options: readonly CompletedOption[];
  /** The commands below it. */
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
    options: optionsOf(command),
    below: command.commands.map((each) => each.name()),
  }));
  const fallback = commands.find(({ name }) => name === defaultCommand);
  return { name: program.name(), commands, defaultOptions: fallback?.options ?? [] };
}

function optionsOf(command: Command): readonly CompletedOption[] {
  const all = [command, ...command.commands].flatMap((each) => each.createHelp().visibleOptions(each).map(optionOf));
  return all.filter(({ flag }, index) => all.findIndex((other) => other.flag === flag) === index);
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
