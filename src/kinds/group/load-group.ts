import type { GroupDraft, GroupEntry, Problem } from "../../config/index.js";
import { LoadError } from "../../loader/load-error.js";
import type { Policy } from "../../policy/index.js";
import { compileExpression, type ExpressionProblem } from "./expression.js";
import { createGroupPolicy } from "./group-policy.js";
import type { GroupMember } from "./member.js";

/**
 * A group's policy from its entry and its members' policies.
 * @param warn told of what is odd about the expression
 * @throws LoadError when the expression does not compile
 */
export function loadGroup(
  entry: GroupEntry,
  members: readonly GroupMember[],
  { now, warn }: { readonly now: () => number; readonly warn: (problem: Problem) => void },
): Policy {
  const compiled = compileExpression(
    entry.expression,
    members.map(({ name }) => name),
  );
  if ("problems" in compiled) {
    const problems = compiled.problems.map((problem) => mistake(entry, problem));
    throw new LoadError(`Policy group expression is invalid: ${compiled.problems[0]?.message ?? ""}`, problems);
  }
  for (const problem of compiled.warnings) {
    warn(entry.origin.warning(["expression"], withCaret(entry.expression, problem), place(problem)));
  }
  return createGroupPolicy({
    id: entry.id,
    program: compiled.program,
    message: entry.message,
    members,
    warnings: entry.groupWarnings,
    now,
  });
}

/** The mistakes in the expression of a group that can't be loaded anyway, so that one run tells them all. */
export function expressionMistakes(draft: GroupDraft): readonly Problem[] {
  const compiled = compileExpression(draft.expression, draft.members);
  return "problems" in compiled ? compiled.problems.map((problem) => mistake(draft, problem)) : [];
}

function mistake(
  { origin, expression }: Pick<GroupDraft, "origin" | "expression">,
  problem: ExpressionProblem,
): Problem {
  return origin.error(["expression"], withCaret(expression, problem), place(problem));
}

const place = ({ line, column }: ExpressionProblem) => (line < 1 ? undefined : { line, column });

/** The message with the expression's line and a caret below it. */
function withCaret(expression: string, { message, line, column }: ExpressionProblem): string {
  const text = expression.split("\n")[line - 1];
  if (text === undefined) return message;
  // Everything but tabs becomes a space, so that the caret stands below its character whatever the tab width.
  const indent = [...text].slice(0, column - 1).map((character) => (character === "\t" ? "\t" : " "));
  return `${message}\n | ${text}\n | ${indent.join("")}^`;
}
