/** Checks `format` calls on literal strings with literal lists (spec kubernetes-cel.md 4.3 and 7.4). */
import type { CallExpr, Expr } from "../../ast.js";
import type { CheckedExpr } from "../../checked.js";
import type { IssueCollector } from "../../issues.js";
import { type Dialect, type Letter, readClause } from "../../stdlib/format/dialect.js";
import { runtimeTypeName } from "../../types.js";
import { unwrapped } from "../type-relations.js";

/**
 * Reports the first clause that fits no argument, or surplus arguments, where pattern and list are literals.
 * @param dialect the version of `format` that is called
 */
export function validateFormat(call: CallExpr, checked: CheckedExpr, issues: IssueCollector, dialect: Dialect): void {
  const { target, args } = call;
  const [list] = args;
  if (target?.kind !== "literal" || typeof target.value !== "string" || list?.kind !== "list" || args.length > 1)
    return;
  const problem = firstProblem(target.value, list.elements, checked, dialect);
  if (problem !== undefined) {
    const { id, offset } = problem.argument ?? call;
    issues.add(offset, problem.message, "invalid-argument", { id });
  }
}

/** The first problem of a pattern with these arguments; one that concerns no argument is placed at the call. */
function firstProblem(
  pattern: string,
  args: readonly Expr[],
  checked: CheckedExpr,
  dialect: Dialect,
): { readonly argument?: Expr; readonly message: string } | undefined {
  let used = 0;
  let at = 0;
  for (let percent = pattern.indexOf("%"); percent >= 0; percent = pattern.indexOf("%", at)) {
    if (pattern[percent + 1] === "%") {
      at = percent + 2;
      continue;
    }
    if (percent + 1 === pattern.length) return { message: "unexpected end of string" };
    const argument = args[used];
    if (argument === undefined) return { message: `index ${used} out of range` };
    const clause = readClause(pattern, percent, dialect.maxPrecision);
    if (typeof clause === "string") return { message: clause };
    const bad = unfit(argument, clause.letter, checked, dialect);
    if (bad !== undefined) {
      const given = runtimeTypeName(checked.types.get(bad.id)!);
      const complaint = dialect.complaints[clause.letter];
      return { argument: bad, message: `error during formatting: ${complaint}, was given ${given}` };
    }
    used += 1;
    at = clause.next;
  }
  if (args.length <= used) return undefined;
  return { message: `too many arguments supplied to string.format (expected ${used}, got ${args.length})` };
}

/** The argument, when its type doesn't fit the clause; for `%s` the first part of a list or map literal that has no text. */
function unfit(argument: Expr, letter: Letter, checked: CheckedExpr, dialect: Dialect): Expr | undefined {
  const type = checked.types.get(argument.id)!;
  if (type.kind !== "dyn" && !dialect.kinds[letter].includes(unwrapped(type).kind)) return argument;
  for (const part of letter === "s" ? partsOf(argument) : []) {
    const bad = unfit(part, letter, checked, dialect);
    if (bad !== undefined) return bad;
  }
  return undefined;
}

function partsOf(argument: Expr): readonly Expr[] {
  if (argument.kind === "list") return argument.elements;
  return argument.kind === "map" ? argument.entries.flatMap(({ key, value }) => [key, value]) : [];
}
