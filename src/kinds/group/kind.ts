import type { Program } from "../../cel/index.js";
import type { Problem } from "../../config/documents/problem.js";
import type { GroupDraft } from "../../config/entry.js";
import type { GroupKind } from "../kind.js";
import { LoadError } from "../load-error.js";
import { compileGroupExpression, type ExpressionProblem } from "./expression.js";
import { createGroupPolicy } from "./group-policy.js";

/** Watches groups' expressions, which are compiled with `trace` for it. */
export interface GroupWatcher {
  watch(program: Program): Pick<Program, "evaluate">;
}

/**
 * Groups: policies composed by a CEL expression.
 * @param now monotonic milliseconds
 * @param watcher absent: evaluations are not watched
 */
export const groupKind = (now: () => number, watcher?: GroupWatcher): GroupKind => ({
  policy(entry, members, warn) {
    const compiled = compileGroupExpression(
      entry.expression,
      members.map(({ name }) => name),
      watcher !== undefined,
    );
    if ("problems" in compiled) {
      const problems = compiled.problems.map((problem) => mistake(entry, problem));
      throw new LoadError(`Policy group expression is invalid: ${compiled.problems[0]?.message ?? ""}`, problems);
    }
    for (const problem of compiled.warnings) {
      warn(entry.origin.warning(["expression"], withCaret(entry.expression, problem), place(problem)));
    }
    const { id, message, groupWarnings: warnings } = entry;
    const program = watcher === undefined ? compiled.program : watcher.watch(compiled.program);
    return createGroupPolicy({ id, expression: entry.expression, program, message, members, warnings, now });
  },
  mistakes(draft) {
    const compiled = compileGroupExpression(draft.expression, draft.members);
    return "problems" in compiled ? compiled.problems.map((problem) => mistake(draft, problem)) : [];
  },
});

function mistake(
  { origin, expression }: Pick<GroupDraft, "origin" | "expression">,
  problem: ExpressionProblem,
): Problem {
  const found = origin.error(["expression"], withCaret(expression, problem), place(problem));
  const { hint } = problem;
  return { ...found, code: "CEL_EXPRESSION", ...(hint !== undefined && { hint }) };
}

const place = ({ line, column }: ExpressionProblem) => (line < 1 ? undefined : { line, column });

/** The message with the expression's line and a caret below it. */
function withCaret(expression: string, { message, line, column }: ExpressionProblem): string {
  const text = expression.split("\n")[line - 1];
  if (text === undefined) return message;
  // Other characters than tabs become spaces, so that the caret stands below its character whatever the tab width.
  const indent = [...text].slice(0, column - 1).map((character) => (character === "\t" ? "\t" : " "));
  return `${message}\n | ${text}\n | ${indent.join("")}^`;
}
