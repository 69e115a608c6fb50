import { formatPath, type Path, type Problem } from "../../config/documents/problem.js";
import type { GroupDraft, GroupEntry } from "../../config/entry.js";
import { canNeverDeny } from "../../policy/policy.js";
import type { GroupKind } from "../kind.js";
import { LoadError } from "../load-error.js";
import type { Watcher } from "../shared/watcher.js";
import { compileGroupExpression, compileGroupText, type ExpressionProblem } from "./expression.js";
import { createGroupPolicy, type GroupText } from "./group-policy.js";

/**
 * Groups: policies composed by a CEL expression.
 * @param now monotonic milliseconds
 * @param watcher watches the expressions, which are compiled with `trace` for it; absent: evaluations are not watched
 */
export const groupKind = (now: () => number, watcher?: Pick<Watcher, "watch">): GroupKind => ({
  policy(entry, members, warn) {
    const { id, message, groupWarnings: warnings, expression } = entry;
    const names = members.map(({ name }) => name);
    const problems: Problem[] = [];
    const texts = compileTexts(entry, names, watcher, problems);
    const called = texts.flatMap((text) => text.expression.program.references.functions);
    const neverDeny = members.filter(({ policy }) => canNeverDeny(policy)).map(({ name }) => name);
    const compiled = compileGroupExpression(expression, names, { trace: watcher !== undefined, called, neverDeny });
    if ("problems" in compiled) problems.unshift(...compiled.problems.map((problem) => mistake(entry, problem)));
    if ("problems" in compiled || problems.length > 0) {
      throw new LoadError(`Policy group expression is invalid: ${problems[0]?.message.split("\n")[0] ?? ""}`, problems);
    }
    for (const problem of compiled.warnings) {
      warn(entry.origin.warning(["expression"], withCaret(expression, problem), place(problem)));
    }
    const { alwaysAllows } = compiled;
    const program = watcher?.watch(compiled.program) ?? compiled.program;
    return createGroupPolicy({ id, expression, program, message, texts, members, warnings, now, alwaysAllows });
  },
  mistakes(draft) {
    const compiled = compileGroupExpression(draft.expression, draft.members);
    return "problems" in compiled ? compiled.problems.map((problem) => mistake(draft, problem)) : [];
  },
});

/** Compiles the message's expression and those of audit annotations; `problems` receives mistakes. */
function compileTexts(
  entry: GroupEntry,
  members: readonly string[],
  watcher: Pick<Watcher, "watch"> | undefined,
  problems: Problem[],
): readonly GroupText[] {
  const { messageExpression, auditAnnotations = [] } = entry;
  const texts: GroupText[] = [];
  const add = (source: string, path: Path, key?: string): void => {
    const wanted = key === undefined ? "string" : "string-or-null";
    const compiled = compileGroupText(source, members, wanted, watcher !== undefined);
    if ("problems" in compiled) {
      problems.push(...compiled.problems.map((each) => mistake({ ...entry, expression: source }, each, path)));
      return;
    }
    const program = watcher?.watch(compiled.program) ?? compiled.program;
    const { type } = compiled.program;
    const expression = { source, program, error: undefined, internal: false, type, shared: false };
    texts.push({ path: formatPath(path), expression, ...(key !== undefined && { key }) });
  };
  if (messageExpression !== undefined) add(messageExpression, ["messageExpression"]);
  for (const { key, valueExpression, path } of auditAnnotations) {
    const member = members.find((name) => key.startsWith(`${name}.`));
    if (member !== undefined) {
      const said = `the key ${JSON.stringify(key)} is one of the member ${JSON.stringify(member)}: its own annotations begin with its name and a dot`;
      problems.push(entry.origin.error(path, said, undefined, { code: "CONFIG_NAME" }));
    }
    add(valueExpression, path, key);
  }
  return texts;
}

function mistake(
  { origin, expression }: Pick<GroupDraft, "origin" | "expression">,
  problem: ExpressionProblem,
  path: Path = ["expression"],
): Problem {
  const found = origin.error(path, withCaret(expression, problem), place(problem));
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
