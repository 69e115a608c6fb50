/** The shape of the command line for completions, read from its definition. */
import type { Argument, Command, Option } from "commander";
import { PROBLEM_CODES } from "../../config/documents/problem-codes.js";

/** The possible values of an option or an argument. `policies`: ids of the policies file. Both false, and no words: any text. */
export interface CompletedValue {
  readonly words: readonly string[];
  readonly paths: "files" | "folders" | false;
  readonly policies: boolean;
}

/** One option of a command. */
export interface CompletedOption {
  /** The flag with its dashes. */
  readonly flag: string;
  /** The same with one letter; absent: there is none. */
  readonly letter?: string | undefined;
  readonly description: string;
  /** The values; absent for an option without one. */
  readonly value?: CompletedValue | undefined;
}

/** One command. */
export interface CompletedCommand {
  readonly name: string;
  readonly description: string;
  readonly options: readonly CompletedOption[];
  /** The first argument. */
  readonly first: CompletedValue;
  /** The others. */
  readonly rest: CompletedValue;
}

/** The whole command line. */
export interface CommandLineShape {
  /** Name of the executable. */
  readonly name: string;
  readonly commands: readonly CompletedCommand[];
  /** Options without a command: those of the default one. */
  readonly defaultOptions: readonly CompletedOption[];
}

const NOTHING: CompletedValue = { words: [], paths: false, policies: false };
const FILES: CompletedValue = { ...NOTHING, paths: "files" };
const POLICIES: CompletedValue = { ...NOTHING, policies: true };
const SHELLS = ["bash", "zsh", "fish", "policies"];

/** Words that the definition of an option has only in its description, by flag. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  "--operation": ["CREATE", "UPDATE", "DELETE", "CONNECT"],
  "--execution-mode": ["kubewarden-wapc", "opa", "gatekeeper", "wasi", "extism"],
  "--output-format": ["json", "yaml", "markdown", "junit"],
};

/** @param defaultCommand the command without a name on the command line */
export function shapeOf(program: Command, defaultCommand: string): CommandLineShape {
  const names = program.commands.map((command) => command.name());
  const commands = program.commands.map((command) => {
    const [first, ...others] = command.registeredArguments.map((argument) => argumentOf(argument, names));
    const isList = command.registeredArguments[0]?.variadic === true;
    return {
      name: command.name(),
      description: command.description(),
      options: command.createHelp().visibleOptions(command).map(optionOf),
      first: first ?? NOTHING,
      rest: (isList ? first : others[0]) ?? NOTHING,
    };
  });
  const fallback = commands.find(({ name }) => name === defaultCommand);
  return { name: program.name(), commands, defaultOptions: fallback?.options ?? [] };
}

function argumentOf(argument: Argument, commands: readonly string[]): CompletedValue {
  const name = argument.name();
  if (argument.argChoices !== undefined) return { ...NOTHING, words: argument.argChoices };
  if (/^(?:policy|policies|what)$/.test(name)) return { ...FILES, policies: true };
  if (name === "shell") return { ...NOTHING, words: SHELLS };
  if (name === "code") return { ...NOTHING, words: PROBLEM_CODES };
  if (name === "command") return { ...NOTHING, words: commands };
  return /^(?:files?|paths?|name)$/.test(name) ? FILES : NOTHING;
}

function optionOf(option: Option): CompletedOption {
  const [, placeholder] = /<(.+)>/.exec(option.flags) ?? [];
  const flag = option.long ?? option.flags;
  return {
    flag,
    letter: option.long === undefined ? undefined : option.short,
    // The text in parentheses, variable and default, is only for the help.
    description: option.description.replace(/ \([^()]*\)$/, ""),
    value: placeholder === undefined ? undefined : optionValue(option, flag, placeholder),
  };
}

function optionValue({ argChoices, description }: Option, flag: string, placeholder: string): CompletedValue {
  const words = argChoices ?? (placeholder.includes("|") ? placeholder.split("|") : WORDS[flag]);
  if (words !== undefined) return { ...NOTHING, words };
  if (/^ids?$/.test(placeholder) || flag === "--approve") return POLICIES;
  if (placeholder === "folder" || /^folder\b/.test(description)) return { ...NOTHING, paths: "folders" };
  if (/^(?:file|files|path|paths|file-or-map)$/.test(placeholder)) return FILES;
  const isPath = placeholder === "text" && /(?:files?|path|policies|config|record)$/.test(flag);
  return isPath ? FILES : NOTHING;
}
