import type { PageProblem } from "../../api.js";

/** A mistake as Kubernetes' CEL words it: the place in the expression, the words, then the line of source and a caret, which the editor shows itself. */
const COMPILED = /ERROR: <input>:(?<line>\d+):(?<column>\d+): (?<words>.*)/g;
const CONTAINER = / \(in container ''\)$/;

/**
 * One mistake for each that a message of CEL's compiler holds, without what the editor shows itself. `problem` stands where the first of them is; the
 * others are as far from it as in the expression, if they are in the same line of it.
 */
export function plainProblems(problem: PageProblem): readonly PageProblem[] {
  const found = [...problem.message.matchAll(COMPILED)].map(({ groups = {} }) => ({
    line: groups.line,
    column: Number(groups.column),
    message: (groups.words ?? "").replace(CONTAINER, ""),
  }));
  const [first] = found;
  if (first === undefined) return [problem];
  const { endColumn, ...rest } = problem;
  return found.map(({ line, column, message }, index) => {
    if (index === 0) return { ...problem, message };
    const shift = line === first.line ? column - first.column : 0;
    return { ...rest, message, column: Math.max(1, problem.column + shift) };
  });
}
