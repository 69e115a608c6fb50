import { APPLY_OPTIONS } from "./apply/options.js";
import { AUDIT_OPTIONS } from "./audit/options.js";
import { CERTIFICATE_REQUEST_OPTIONS } from "./certificate-request-options.js";
import { commandLine } from "./command-line.js";
import { commandTable } from "./docs/reference.js";
import { type OptionDefinition, type OptionKind, SERVE_OPTIONS } from "./option-definitions.js";

/** The tables of docs/command-line.md and docs/apply.md by name, made from the definitions that the command line is made from. */
export function commandLineTables(): Readonly<Record<string, string>> {
  const rows = SERVE_OPTIONS.map((option: OptionDefinition) => {
    const value = isBare(option.kind) ? "" : ` ${placeholderOf(option.kind)}`;
    return `| \`--${option.flag}${value}\` | \`${option.env}\` | ${defaultOf(option)} | ${option.description} |`;
  });
  const { stdin, stdout, stderr } = process;
  return {
    commands: commandTable(commandLine({ env: {}, stdin, stdout, stderr }, () => {})),
    "certificate-request-options": [
      "| Option | Key in test files | Meaning |",
      "| --- | --- | --- |",
      ...CERTIFICATE_REQUEST_OPTIONS.map(
        ({ flags, testKey, description }) => `| \`${flags}\` | \`${testKey}\` | ${description} |`,
      ),
    ].join("\n"),
    "audit-options": ["| Flag | Default | Meaning |", "| --- | --- | --- |", ...auditRows()].join("\n"),
    "apply-options": ["| Flag | Default | Meaning |", "| --- | --- | --- |", ...applyRows()].join("\n"),
    "serve-options": ["| Flag | Variable | Default | Meaning |", "| --- | --- | --- | --- |", ...rows].join("\n"),
  };
}

function auditRows(): string[] {
  return AUDIT_OPTIONS.map(({ flags, choices, default: fallback, description }) => {
    const written = choices === undefined ? flags : flags.replace(/<.*>/, choices.join("\\|"));
    const value = fallback !== undefined ? `\`${fallback}\`` : flags.includes("<") ? "none" : "off";
    return `| \`${written}\` | ${value} | ${description} |`;
  });
}

function applyRows(): string[] {
  return APPLY_OPTIONS.filter(({ hidden }) => !hidden).map(({ flags, kind, default: fallback, description }) => {
    const written = Array.isArray(kind) ? flags.replace(/<.*>/, kind.join("\\|")) : flags;
    const value = kind === "flag" ? "off" : fallback === undefined ? "none" : `\`${fallback}\``;
    return `| \`${written}\` | ${value} | ${description} |`;
  });
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
