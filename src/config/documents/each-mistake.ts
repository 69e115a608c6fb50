/** Problems of expressions for people who see the line: without what the line shows, and each mistake by itself. */
import type { Problem } from "./problem.js";
import { withoutQuotedLines } from "./problem-line.js";

/** A mistake in the words of Kubernetes' CEL: the value and the types that do not match, then its place in the expression, and the message. */
const COMPILED = /^(?<before>.*)ERROR: <input>:(?<line>\d+):(?<column>\d+): (?<words>.*)$/gm;
/** The value, which Go has quoted, and the note that it does not compile. */
const VALUE = /^Invalid value: "(?:[^"\\]|\\.)*": (?:compilation failed: )?/;
const CONTAINER = / \(in container ''\)$/;
/** The list of all tokens of the language, which does not help the reader. */
const EXPECTED = / expecting \{.*\}$/;
/** The note behind all of them for an expression that a later version accepts: then its only mistake is its age. */
const LATER = /\nKubernetes takes this in new policies from .*$/;
const TOO_EARLY = "Syntax error: mismatched input '<EOF>'";

/**
 * One problem for each mistake in the problem of an expression; any other as it is. The first has the problem's place, the others the same distance
 * from it as in the expression, if they are in the same line of it. Where it is not known which mistake the hint is for, the last one has it.
 */
export function eachMistake(problem: Problem): readonly Problem[] {
  const { code, hint } = problem;
  if (code !== "CEL_EXPRESSION" && code !== "CEL_TYPES") return [problem];
  const found = [...withoutQuotedLines(problem.message).matchAll(COMPILED)].map(({ groups = {} }) => ({
    line: groups.line,
    column: Number(groups.column),
    message: `${(groups.before ?? "").replace(VALUE, "")}${plain(groups.words ?? "")}`,
  }));
  const [first] = found;
  if (first === undefined) return [{ ...problem, message: plain(problem.message.replace(VALUE, "")) }];
  const later = LATER.exec(problem.message)?.[0].trim();
  if (later !== undefined) return [{ ...problem, message: `${first.message}; ${later}` }];
  // Once the first mistake of syntax is corrected as its hint says, the others disappear.
  const isMended = hint !== undefined && first.message.startsWith("Syntax error: ");
  const told = isMended ? [first] : found;
  const { endColumn: _, hint: __, hints, ...rest } = problem;
  return told.map(({ line, column, message }, index) => {
    const own = hints?.length === told.length ? hints[index] : index === told.length - 1 ? hint : undefined;
    const help = own === undefined ? {} : { hint: own };
    if (index === 0) return { ...rest, message, ...endOf(problem), ...help };
    const shift = line === first.line ? column - first.column : 0;
    return { ...rest, message, column: Math.max(1, problem.column + shift), ...help };
  });
}

const endOf = ({ endColumn }: Problem) => (endColumn === undefined ? {} : { endColumn });

function plain(words: string): string {
  const [first = "", ...others] = words.split("\n");
  const short = first.replace(CONTAINER, "").replace(EXPECTED, "");
  return [short === TOO_EARLY ? "Syntax error: the expression ends too early" : short, ...others].join("\n");
}
