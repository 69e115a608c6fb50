/** Problems of expressions for people who see the line: without what the line shows, and each mistake by itself. */
import type { Problem } from "./problem.js";
import { withoutQuotedLines } from "./problem-line.js";

/** A mistake as Kubernetes' CEL words it: before it the value and whose types do not fit, then its place in the expression, and the words. */
const COMPILED = /^(?<before>.*)ERROR: <input>:(?<line>\d+):(?<column>\d+): (?<words>.*)$/gm;
/** The value, which Go has quoted, and that it does not compile. */
const VALUE = /^Invalid value: "(?:[^"\\]|\\.)*": (?:compilation failed: )?/;
const CONTAINER = / \(in container ''\)$/;
/** All tokens of the language are no help. */
const EXPECTED = / expecting \{.*\}$/;
/** Said behind all of them, of an expression that a later version takes: then it has one mistake, its age. */
const LATER = /\nKubernetes takes this in new policies from .*$/;
const TOO_EARLY = "Syntax error: mismatched input '<EOF>'";

/**
 * One problem for each mistake that the problem of an expression tells of; any other as it is. The first stands where the problem does, the others as far
 * from it as in the expression, if they are in the same line of it. Where it is not known which mistake the hint is for, it stands at the last.
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
  // Once the first mistake of syntax is mended as its hint says, the others are gone.
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
