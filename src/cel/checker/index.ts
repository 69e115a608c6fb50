/** From a parsed to a checked expression (spec kubernetes-cel.md section 7). */
import type { ParsedExpr } from "../ast.js";
import type { CheckedExpr, Declarations } from "../checked.js";
import type { FunctionDeclaration } from "../declarations.js";
import { IssueCollector, type IssueReport } from "../issues.js";
import { Source } from "../source.js";
import { Checker } from "./checker.js";
import { Names } from "./names.js";
import { type PreparedOverload, prepareOverloads } from "./overloads.js";

/** A checked expression, or all errors of its types and names. */
export type CheckResult = { readonly ok: true; readonly checked: CheckedExpr } | IssueReport;

/** Checks expressions against one environment's declarations. Make it once per environment: it prepares look-up tables. */
export class TypeChecker {
  readonly #names: Names;
  readonly #overloads: ReadonlyMap<FunctionDeclaration, readonly PreparedOverload[]>;

  /** @param macros the names of macros, for proposals */
  constructor(declarations: Declarations, macros: readonly string[] = []) {
    this.#names = new Names(declarations, macros);
    this.#overloads = new Map(
      [...declarations.functions.values()].map((declaration) => [declaration, prepareOverloads(declaration)]),
    );
  }

  /** Checks one expression. Never throws. */
  check(parsed: ParsedExpr): CheckResult {
    const issues = new IssueCollector(new Source(parsed.source));
    const checker = new Checker(this.#names, (declaration) => this.#overloads.get(declaration) ?? [], issues);
    const expr = checker.run(parsed.expr);
    if (issues.count > 0) return issues.report();
    const { types, overloads, typeNames } = checker;
    return { ok: true, checked: { parsed, expr, type: types.get(expr.id)!, types, overloads, typeNames } };
  }
}
