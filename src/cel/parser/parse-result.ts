import type { ParsedExpr } from "../ast.js";
import type { IssueReport } from "../issues.js";

/** A parsed expression, or all that is wrong with its syntax. */
export type ParseResult = { readonly ok: true; readonly parsed: ParsedExpr } | IssueReport;
