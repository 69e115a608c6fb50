/** How the results of `check` are told: as text, SARIF and JSON. */
import { readFileSync, statSync } from "node:fs";
import { MAX_FILE_BYTES } from "../../config/config-files.js";
import { type Excerpt, excerptOf } from "../../config/documents/excerpt.js";
import { withoutQuotedLines } from "../../config/documents/problem-line.js";
import { formatPath, type Problem } from "../../config/index.js";
import { counted } from "../../data/counted.js";
import { escapedLines, printable, printableLines } from "../../data/printable.js";
import { yamlText } from "../../data/yaml.js";
import { type SarifDocument, type SarifResult, sarifDocument } from "../../offline/reports/sarif.js";
import type { Paint } from "../look/paint.js";
import { type LeftOut, leftOutText } from "./documents.js";

/** The result of checking one configuration. */
export interface CheckedFile {
  readonly file: string;
  /** Number of its entries. */
  readonly policies: number;
  readonly errors: number;
  readonly warnings: number;
  /** Advice that never fails. */
  readonly notes: number;
  /** The rest of a folder. */
  readonly leftOut?: LeftOut;
  /** The number of webhook configurations; absent: they were not looked at. */
  readonly webhookConfigurations?: number;
  /** Problems without repetitions: those of the file itself first, then those of others by name, each by line and column. */
  readonly problems: readonly Problem[];
}

/** Most files whose lines are kept: problems come in order of file. */
const MAX_KEPT = 8;

/** The lines of files with problems, read again for display. */
export class SourceLines {
  readonly #kept = new Map<string, readonly string[]>();

  /** @param given texts that were read already, by name, such as standard input */
  constructor(given: ReadonlyMap<string, string> = new Map()) {
    for (const [file, text] of given) this.#kept.set(file, linesOf(text));
  }

  /** A line, 1-based; undefined without such a line or file. */
  line(file: string, line: number): string | undefined {
    let lines = this.#kept.get(file);
    if (lines === undefined) {
      lines = read(file);
      const [oldest] = this.#kept.keys();
      if (this.#kept.size >= MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
      this.#kept.set(file, lines);
    }
    return lines[line - 1];
  }
}

export function read(file: string): readonly string[] {
  try {
    const stats = statSync(file);
    return stats.isFile() && stats.size <= MAX_FILE_BYTES ? linesOf(yamlText(readFileSync(file))) : [];
  } catch {
    return [];
  }
}

/** The lines of a text, which end as in places: at LF, CR LF or a single CR. */
const linesOf = (text: string): readonly string[] => text.replace(/^\ufeff/, "").split(/\r\n|\n|\r/);

// Problems as text: place and message in a line that terminals make clickable, the line of the file with a mark, and help.

/** Problems of a file as a whole, for which its first line is not shown. */
const OF_WHOLE_FILE: ReadonlySet<string> = new Set(["CONFIG_FILE", "CLUSTER_NEEDED"]);

/** All problems of a file, with their number. */
export function checkedText(checked: CheckedFile, lines: SourceLines, paint: Paint): string {
  return `${checked.problems.map((problem) => problemText(problem, lines, paint)).join("")}${summary(checked, paint)}\n`;
}

/** The lines of one problem, with an empty one after them. */
function problemText(problem: Problem, lines: SourceLines, paint: Paint): string {
  const { file, line, column, severity, path, code, hint } = problem;
  const isWhole = line === 1 && path.length === 0 && OF_WHOLE_FILE.has(code ?? "");
  const source = isWhole ? undefined : lines.line(file, line);
  const excerpt = source === undefined || source.trim() === "" ? undefined : excerptOf(source, problem);
  // The excerpt shows the text that the message quotes, in its place.
  const message = excerpt === undefined ? problem.message : withoutQuotedLines(problem.message);
  const place = paint("strong", printable(`${file}:${line}:${column}:`));
  const warning = severity === "error" ? "" : `${paint(severity === "note" ? "quiet" : "doubt", `${severity}:`)} `;
  const where = path.length === 0 ? "" : `${paint("name", printable(formatPath(path)))}: `;
  const name = code === undefined ? "" : ` ${paint("quiet", `[${code}]`)}`;
  const head = `${place} ${warning}${where}${printableLines(message)}${name}\n`;
  const quoted = excerpt === undefined ? "" : excerptText(excerpt, severity, paint);
  return `${head}${quoted}${hint === undefined ? "" : helpText(hint, paint)}\n`;
}

function excerptText({ gutter, text, blank, mark }: Excerpt, severity: Problem["severity"], paint: Paint): string {
  const tone = severity === "error" ? "bad" : "doubt";
  const [, space = "", carets = ""] = /^(\s*)(.*)$/.exec(mark) ?? [];
  return `${paint("quiet", gutter)}${text}\n${paint("quiet", blank)}${space}${paint(tone, carets)}\n`;
}

/** The text of a hint; one of several lines is to be pasted, and follows unchanged below its first line. */
function helpText(hint: string, paint: Paint): string {
  const [first = "", ...others] = escapedLines(hint).split("\n");
  return `${[`${paint("good", "help:")} ${first}`, ...others.map((line) => `  ${line}`.trimEnd())].join("\n")}\n`;
}

function summary(checked: CheckedFile, paint: Paint): string {
  const { file, policies, errors, warnings, notes, leftOut, webhookConfigurations: webhooks = 0 } = checked;
  const warned = warnings === 0 ? "" : `, ${paint("doubt", counted(warnings, "warning"))}`;
  const noted = notes === 0 ? "" : `, ${counted(notes, "note")}`;
  const left = leftOut === undefined ? "" : leftOutText(leftOut);
  const doubts = `${warned}${noted}${left}`;
  const name = printable(file);
  if (errors > 0) return `${name}: ${paint("bad", counted(errors, "error"))}${doubts}`;
  const found = [
    ...(policies > 0 || webhooks === 0 ? [counted(policies, "policy", "policies")] : []),
    ...(webhooks > 0 ? [counted(webhooks, "webhook configuration")] : []),
  ];
  return `${name}: ${found.join(", ")}, ${paint("good", "no errors")}${doubts}`;
}

// Results of `check` as SARIF: a rule for each code, a result for each problem.

const NO_CODE = "POLICY_INVALID";

export function checkedSarif(files: readonly CheckedFile[]): SarifDocument {
  const problems = files.flatMap((file) => file.problems);
  const codes = [...new Set(problems.map(({ code }) => code ?? NO_CODE))].sort();
  const results = problems.map(({ severity, path, message, hint, code = NO_CODE, ...place }): SarifResult => {
    const where = path.length === 0 ? "" : `${formatPath(path)}: `;
    return { rule: code, level: severity, text: `${where}${message}${hint === undefined ? "" : `\n${hint}`}`, place };
  });
  return sarifDocument(
    codes.map((id) => ({ id, help: `policy-server explain ${id} says what it means; so does docs/errors.md.` })),
    results,
  );
}

// Results of `check` as JSON.

/** One file as an object; several as a list under `files`. JSON with a newline. */
export function checkedJson(files: readonly CheckedFile[]): string {
  const [only, ...others] = files.map(fileValue);
  const value = others.length === 0 && only !== undefined ? only : { files: files.map(fileValue) };
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

const fileValue = ({ problems, ...file }: CheckedFile) => ({ ...file, problems: problems.map(problemValue) });

function problemValue({ file, line, column, endColumn, severity, code, path, message, hint }: Problem) {
  return { file, line, column, endColumn, severity, code, path: formatPath(path), message, hint };
}
