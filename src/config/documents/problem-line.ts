import { formatProblem, type Problem } from "./problem.js";

/** A line of an expression, or the mark below it, as messages of expressions have them. */
const QUOTED_LINE = /^ \| /;

/** A message without the lines that it quotes: for where the file's own line is shown, and where one line is all. */
export function withoutQuotedLines(message: string): string {
  return message
    .split("\n")
    .filter((line) => !QUOTED_LINE.test(line))
    .join("\n");
}

/** A problem as one line of a log: place, words, code, and the hint. Of a hint with something to be pasted, the words before it. */
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
