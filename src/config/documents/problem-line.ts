import { formatProblem, type Problem } from "./problem.js";

/** A line of an expression, or the mark below it, in messages about expressions. */
const QUOTED_LINE = /^ \| /;

/** A message without the lines that it quotes: for output that shows the file's own line, or only one line. */
export function withoutQuotedLines(message: string): string {
  return message
    .split("\n")
    .filter((line) => !QUOTED_LINE.test(line))
    .join("\n");
}

/** A problem as one line of a log: place, message, code, and the hint. Of a hint with a text to be pasted, the words before it. */
export function problemLine(problem: Problem): string {
  const { message, code, hint } = problem;
  const [help = ""] = (hint ?? "").split("\n");
  const line = formatProblem({
    ...problem,
    message: withoutQuotedLines(message)
      .trim()
      .replaceAll(/\s*\n\s*/g, "; "),
  });
  return `${line}${code === undefined ? "" : ` [${code}]`}${help === "" ? "" : ` (help: ${help.replace(/:$/, "")})`}`;
}
