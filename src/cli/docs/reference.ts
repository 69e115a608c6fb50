/** The reference of the command line in Markdown, made from the definitions that parse it. */
import type { Argument, Command, Help, Option } from "commander";
import { examplesOf } from "../definition.js";

/** All commands under their headings, each with its purpose, arguments, options and examples. */
export function commandReference(program: Command): string {
  const { commands } = program;
  const contents = groupsOf(commands).flatMap(([heading, own]) => [
    `**${heading}**`,
    "",
    ...own.map((command) => `- [\`${command.name()}\`](#${command.name()}): ${inMarkdown(command.description())}`),
    "",
  ]);
  const head = [`# ${program.name()}`, "", inMarkdown(program.description()), "", ...contents];
  return `${[...head, ...commands.flatMap((command) => sectionOf(program, command))].join("\n").trimEnd()}\n`;
}

/** A row for every command, under the headings of the help. */
export function commandTable(program: Command): string {
  const rows = groupsOf(program.commands).flatMap(([heading, own]) =>
    own.map(
      (command) => `| ${heading} | [\`${typed(command)}\`](#${command.name()}) | ${inTable(command.description())} |`,
    ),
  );
  return ["| | Command | What it does |", "| --- | --- | --- |", ...rows].join("\n");
}

function groupsOf(commands: readonly Command[]): readonly (readonly [heading: string, commands: readonly Command[]])[] {
  const groups = new Map<string, Command[]>();
  for (const command of commands) {
    const heading = command.helpGroup().replace(/:$/, "");
    groups.set(heading, [...(groups.get(heading) ?? []), command]);
  }
  return [...groups];
}

/** The syntax of a command: `eval [policy]`. */
function typed(command: Command): string {
  return [command.name(), ...shownArguments(command).map(argumentText)].join(" ");
}

/** The documented arguments: those without a description only catch mistakes. */
const shownArguments = (command: Command): readonly Argument[] =>
  command.registeredArguments.filter(({ description }) => description !== "");

function argumentText(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}

function sectionOf(program: Command, command: Command): string[] {
  const help: Help = command.createHelp();
  const options = help.visibleOptions(command);
  const given = shownArguments(command);
  const examples = examplesOf(command);
  return [
    `## \`${command.name()}\``,
    "",
    inMarkdown(command.description()),
    "",
    "```",
    `${program.name()} ${typed(command)} [options]`,
    "```",
    "",
    ...(given.length === 0
      ? []
      : table(
          "Argument",
          given.map((each) => [argumentText(each), each.description]),
        )),
    ...table(
      "Option",
      options.map((option) => [option.flags, optionText(option)]),
    ),
    ...(examples.length === 0
      ? []
      : ["```bash", ...examples.flatMap(([line, meaning]) => [`# ${meaning}`, line]), "```", ""]),
  ];
}

function optionText(option: Option): string {
  // The descriptions of `serve` contain it.
  if (option.defaultValue === undefined || /\bdefault: /.test(option.description)) return option.description;
  return `${option.description} (default: ${option.defaultValue})`;
}

function table(first: string, rows: readonly (readonly [string, string])[]): string[] {
  return [
    `| ${first} | Meaning |`,
    "| --- | --- |",
    ...rows.map(([written, meaning]) => `| \`${written.replaceAll("|", "\\|")}\` | ${inTable(meaning)} |`),
    "",
  ];
}

const inMarkdown = (text: string): string => text.replace(/[<*]/g, "\\$&");
const inTable = (text: string): string => inMarkdown(text).replaceAll("|", "\\|");
