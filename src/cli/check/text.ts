/** Problems for a person: place and words in a line that terminals make clickable, the line of the file with a mark, and help. */

import { type Excerpt, excerptOf } from "../../config/documents/excerpt.js";
import { withoutQuotedLines } from "../../config/documents/problem-line.js";
import { formatPath, type Problem } from "../../config/index.js";
import { counted } from "../../data/counted.js";
import { escapedLines, printable, printableLines } from "../../data/printable.js";
import type { Paint } from "../look/paint.js";
import type { CheckedFile } from "./checked-file.js";
import type { SourceLines } from "./source-lines.js";

/** Problems of a file as a whole: its first line has nothing to do with them. */
const OF_WHOLE_FILE: ReadonlySet<string> = new Set(["CONFIG_FILE", "CLUSTER_NEEDED"]);

/** All of a file, and how much it is. */
export function checkedText(checked: CheckedFile, lines: SourceLines, paint: Paint): string {
  return `${checked.problems.map((problem) => problemText(problem, lines, paint)).join("")}${summary(checked, paint)}\n`;
}

/** The lines of one problem, with an empty one behind them. */
export function problemText(problem: Problem, lines: SourceLines, paint: Paint): string {
  const { file, line, column, severity, path, code, hint } = problem;
  const isWhole = line === 1 && path.length === 0 && OF_WHOLE_FILE.has(code ?? "");
  const source = isWhole ? undefined : lines.line(file, line);
  const excerpt = source === undefined || source.trim() === "" ? undefined : excerptOf(source, problem);
  // The excerpt shows what the message quotes, at its place in the file.
  const message = excerpt === undefined ? problem.message : withoutQuotedLines(problem.message);
  const place = paint("strong", printable(`${file}:${line}:${column}:`));
  const warning = severity === "warning" ? `${paint("doubt", "warning:")} ` : "";
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

/** A hint of several lines is something to be pasted: it stands below its first line as it is. */
function helpText(hint: string, paint: Paint): string {
  const [first = "", ...others] = escapedLines(hint).split("\n");
  return `${[`${paint("good", "help:")} ${first}`, ...others.map((line) => `  ${line}`.trimEnd())].join("\n")}\n`;
}

function summary({ file, policies, errors, warnings }: CheckedFile, paint: Paint): string {
  const doubts = warnings === 0 ? "" : `, ${paint("doubt", counted(warnings, "warning"))}`;
  const name = printable(file);
  if (errors > 0) return `${name}: ${paint("bad", counted(errors, "error"))}${doubts}`;
  return `${name}: ${counted(policies, "policy", "policies")}, ${paint("good", "no errors")}${doubts}`;
}
