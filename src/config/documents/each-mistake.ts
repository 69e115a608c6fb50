/** Problems of expressions for people who see the line: without what the line shows, and each mistake by itself. */
import type { Problem } from "./problem.js";

const CONTAINER = / \(in container ''\)$/;
/** A list of all tokens of the language does not help. */
const EXPECTED = / expecting \{(?!.* expecting \{).*\}$/;
const TOO_EARLY = "Syntax error: mismatched input '<EOF>'";

/**
 * One problem for each mistake of an expression; any other as it is. Where it is not known which mistake the hint is for, it stands at the last.
 */
export function eachMistake(problem: Problem): readonly Problem[] {
  const { mistakes = [], hint, endColumn, ...rest } = problem;
  const [first] = mistakes;
  if (first === undefined)
    return rest.code === "CEL_EXPRESSION" ? [{ ...problem, message: plainWords(rest.message) }] : [problem];
  // Once the first mistake of syntax is mended as its hint says, the others are gone.
  const told = hint !== undefined && first.message.startsWith("Syntax error: ") ? [first] : mistakes;
  const hasOwn = told.length > 1 && told.some((mistake) => mistake.hint !== undefined);
  return told.map(({ hint: own, ...mistake }, index) => {
    const help = hasOwn ? own : index === told.length - 1 ? hint : undefined;
    return {
      ...rest,
      ...mistake,
      message: plainWords(mistake.message),
      ...(index === 0 && endColumn !== undefined && { endColumn }),
      ...(help !== undefined && { hint: help }),
    };
  });
}

/** The compiler's words without unhelpful parts. */
export function plainWords(message: string): string {
  const [first = "", ...others] = message.split("\n");
  const short = first.replace(CONTAINER, "").replace(EXPECTED, "");
  return [short === TOO_EARLY ? "Syntax error: the expression ends too early" : short, ...others].join("\n");
}
