import type { Program } from "../../cel/index.js";
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
    const trace = watcher !== undefined;
    const names = members.map(({ name }) => name);
    const texts = compileTexts(entry, names, trace);
    const called = texts.made.flatMap(({ program }) => program.references.functions);
    const neverDeny = members.filter(({ policy }) => canNeverDeny(policy)).map(({ name }) => name);
    const compiled = compileGroupExpression(entry.expression, names, { trace, called, neverDeny });
    const wrong = "problems" in compiled ? compiled.problems.map((problem) => mistake(entry, problem)) : [];
    if ("problems" in compiled || texts.problems.length > 0) {
      const problems = [...wrong, ...texts.problems];
      throw new LoadError(`Policy group expression is invalid: ${problems[0]?.message.split("\n")[0] ?? ""}`, problems);
    }
    for (const problem of compiled.warnings) {
      warn(entry.origin.warning(["expression"], withCaret(entry.expression, problem), place(problem)));
    }
    const { id, message, groupWarnings: warnings, expression } = entry;
    const { alwaysAllows } = compiled;
    const program = watcher === undefined ? compiled.program : watcher.watch(compiled.program);
    const all = texts.made.map(({ program: made, ...text }): GroupText => {
      const { source, type } = made;
      const used = watcher === undefined ? made : watcher.watch(made);
      return { ...text, expression: { source, program: used, error: undefined, internal: false, type, shared: false } };
    });
    const messageExpression = all.find(({ key }) => key === undefined);
    const annotations = all.filter(({ key }) => key !== undefined);
    const made = { messageExpression, annotations, alwaysAllows };
    return createGroupPolicy({ id, expression, program, message, members, warnings, now, ...made });
  },
  mistakes(draft) {
    const compiled = compileGroupExpression(draft.expression, draft.members);
    return "problems" in compiled ? compiled.problems.map((problem) => mistake(draft, problem)) : [];
  },
});

/** A compiled text at its path in the entry. */
interface MadeText {
  readonly path: string;
  readonly key?: string;
  readonly program: Program;
}

/** Compiles the message's expression and those of audit annotations. */
function compileTexts(
  entry: GroupEntry,
  members: readonly string[],
  trace: boolean,
): { readonly made: readonly MadeText[]; readonly problems: readonly Problem[] } {
  const made: MadeText[] = [];
  const problems: Problem[] = [];
  const add = (source: string, path: Path, key?: string): void => {
    const compiled = compileGroupText(source, members, key === undefined ? "string" : "string-or-null", trace);
    if ("problems" in compiled) {
      problems.push(...compiled.problems.map((each) => mistake({ ...entry, expression: source }, each, path)));
    } else made.push({ path: formatPath(path), program: compiled.program, ...(key !== undefined && { key }) });
  };
  const { messageExpression, auditAnnotations = [] } = entry;
  if (messageExpression !== undefined) add(messageExpression, ["messageExpression"]);
  for (const { key, valueExpression, path } of auditAnnotations) {
    const member = members.find((name) => key.startsWith(`${name}.`));
    if (member !== undefined) {
      const said = `the key ${JSON.stringify(key)} is one of the member ${JSON.stringify(member)}: its own annotations begin with its name and a dot`;
      problems.push(entry.origin.error(path, said, undefined, { code: "CONFIG_NAME" }));
    }
    add(valueExpression, path, key);
  }
  return { made, problems };
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
