import { eachMistake } from "../../config/documents/each-mistake.js";
import type { Problem } from "../../config/index.js";
import type { LoadResult } from "../../loader/policy-source.js";

/** What `check` has to say of one configuration. */
export interface CheckedFile {
  readonly file: string;
  /** How many entries it has. */
  readonly policies: number;
  readonly errors: number;
  readonly warnings: number;
  /** Each once: those of the file itself first, then those of others by name, each by line and column. */
  readonly problems: readonly Problem[];
}

/** Puts in order what loading has found. */
export function checkedFile({ file, policies, problems: found }: LoadResult): CheckedFile {
  const seen = new Map(found.map((problem) => [identityOf(problem), problem]));
  const problems = withoutEchoes([...seen.values()].flatMap(eachMistake)).sort((left, right) =>
    compare(left, right, file),
  );
  const errors = problems.filter(({ severity }) => severity === "error").length;
  // Ids with a slash are members addressed by themselves.
  const entries = [...policies.entries.keys()].filter((id) => !id.includes("/")).length;
  return { file, policies: entries, errors, warnings: problems.length - errors, problems };
}

/** Two readers may find the same mistake. */
const identityOf = ({ file, line, column, message, severity }: Problem): string =>
  JSON.stringify([file, line, column, message, severity]);

/** Without doubts about what is a mistake: another entry that has the same file may take it for less. */
function withoutEchoes(problems: readonly Problem[]): Problem[] {
  const placeOf = ({ file, line, column, code, hint }: Problem): string =>
    JSON.stringify([file, line, column, code, hint]);
  const mistakes = new Set(problems.filter(({ severity }) => severity === "error").map(placeOf));
  const isEcho = (problem: Problem): boolean =>
    problem.severity === "warning" && problem.hint !== undefined && mistakes.has(placeOf(problem));
  return problems.filter((problem) => !isEcho(problem));
}

function compare(left: Problem, right: Problem, first: string): number {
  if (left.file !== right.file) {
    if (left.file === first || right.file === first) return left.file === first ? -1 : 1;
    return left.file < right.file ? -1 : 1;
  }
  return left.line - right.line || left.column - right.column;
}
