import type { Command } from "commander";
import { CERTIFICATE_REQUEST_OPTIONS } from "./certificate-request-options.js";
import { commandLine } from "./command-line.js";
import { LOADING_OPTIONS } from "./definition.js";
import { commandTable } from "./docs/reference.js";
import { exitCodeTable } from "./exit-codes.js";
import { kyvernoFlagTable } from "./kyverno-flags.js";
import type { OptionDefinition, OptionKind } from "./option-definition.js";
import { SERVE_OPTIONS } from "./option-definitions.js";

/** The tables of docs/command-line.md and docs/apply.md by name, made from the definitions of the command line. */
export function commandLineTables(): Readonly<Record<string, string>> {
  const rows = SERVE_OPTIONS.map((option: OptionDefinition) => {
    const value = isBare(option.kind) ? "" : ` ${placeholderOf(option.kind)}`;
    return `| \`--${option.flag}${value}\` | \`${option.env}\` | ${defaultOf(option)} | ${option.description} |`;
  });
  const { stdin, stdout, stderr } = process;
  const program = commandLine({ env: {}, stdin, stdout, stderr }, () => {});
  return {
    commands: commandTable(program),
    "exit-codes": exitCodeTable(),
    "certificate-request-options": [
      "| Option | Key in test files | Meaning |",
      "| --- | --- | --- |",
      ...CERTIFICATE_REQUEST_OPTIONS.map(
        ({ flags, testKey, description }) => `| \`${flags}\` | \`${testKey}\` | ${description} |`,
      ),
    ].join("\n"),
    "audit-options": ownOptions(program, "audit"),
    "apply-options": ownOptions(program, "apply"),
    "kyverno-flags": kyvernoFlagTable(),
    "serve-options": ["| Flag | Variable | Default | Meaning |", "| --- | --- | --- | --- |", ...rows].join("\n"),
  };
}

/** The options of only this command. */
function ownOptions(program: Command, name: string): string {
  const shared = new Set([
    ...LOADING_OPTIONS.map(({ flag }) => `--${flag}`),
    ...CERTIFICATE_REQUEST_OPTIONS.map(({ flags }) => flags.replace(/ .*/, "")),
  ]);
  const own = program.commands
    .filter((command) => command.name() === name)
    .flatMap(({ options }) => options.filter(({ hidden, long }) => !hidden && !shared.has(long ?? "")));
  const rows = own.map(({ flags, argChoices, defaultValue, description }) => {
    const written = argChoices === undefined ? flags : flags.replace(/<.*>/, argChoices.join("\\|"));
    const value = defaultValue !== undefined ? `\`${defaultValue}\`` : flags.includes("<") ? "none" : "off";
    return `| \`${written}\` | ${value} | ${description} |`;
  });
  return ["| Flag | Default | Meaning |", "| --- | --- | --- |", ...rows].join("\n");
}

function placeholderOf(kind: OptionKind): string {
  return typeof kind === "object" ? kind.choices.join("\\|") : `<${kind}>`;
}

function defaultOf({ kind, default: fallback }: OptionDefinition): string {
  if (fallback === undefined) return "none";
  return isBare(kind) ? "off" : `\`${fallback}\``;
}

function isBare(kind: OptionKind): boolean {
  return kind === "flag" || kind === "switch";
}
