/** From a parsed to a checked expression (spec kubernetes-cel.md section 7). */
import type { ParsedExpr } from "../ast.js";
import type { CheckedExpr, Declarations } from "../checked.js";
import { IssueCollector, type IssueReport } from "../issues.js";
import { Source } from "../source.js";
import { Checker } from "./checker.js";
import { Names } from "./names.js";
import { prepareOverloads } from "./overloads.js";

/** A checked expression, or all errors of its types and names. */
export type CheckResult = { readonly ok: true; readonly checked: CheckedExpr } | IssueReport;

/** Checks expressions against one environment's declarations. Make it once per environment: it prepares look-up tables, at the first check. */
export class TypeChecker {
  readonly #declarations: Declarations;
  readonly #macros: readonly string[];
  #names: Names | undefined;

  /** @param macros the names of macros, for proposals */
  constructor(declarations: Declarations, macros: readonly string[] = []) {
    this.#declarations = declarations;
    this.#macros = macros;
  }

  /** Checks one expression. Never throws. */
  check(parsed: ParsedExpr): CheckResult {
    const issues = new IssueCollector(new Source(parsed.source));
    this.#names ??= new Names(this.#declarations, this.#macros);
    const checker = new Checker(this.#names, prepareOverloads, issues);
    const expr = checker.run(parsed.expr);
    if (issues.count > 0) return issues.report();
    const { types, overloads, typeNames } = checker;
    return { ok: true, checked: { parsed, expr, type: types.get(expr.id)!, types, overloads, typeNames } };
  }
}
