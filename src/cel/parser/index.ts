/** From text to tree (spec kubernetes-cel.md section 1). */
import type { ParsedExpr } from "../ast.js";
import { IssueCollector, type IssueReport } from "../issues.js";
import { tokenize } from "../lexer/lexer.js";
import { Source } from "../source.js";
import { AstBuilder } from "./ast-builder.js";
import { diagnose } from "./diagnosis/diagnose.js";
import { parseFast } from "./fast-parser.js";
import { MAX_CODE_POINTS } from "./limits.js";
import type { ParserOptions } from "./parser-options.js";

export type { ParserOptions } from "./parser-options.js";

/** A parsed expression, or all errors of its syntax. */
export type ParseResult = { readonly ok: true; readonly parsed: ParsedExpr } | IssueReport;

/** Parses an expression. Never throws; time is linear in the length of the text. */
export function parse(text: string, options: ParserOptions): ParseResult {
  const source = new Source(text);
  if (source.length > MAX_CODE_POINTS) {
    const issues = new IssueCollector(source);
    issues.addGlobal(`expression code point size exceeds limit: size: ${source.length}, limit ${MAX_CODE_POINTS}`);
    return issues.report();
  }
  const tokens = tokenize(source.text);
  const builder = new AstBuilder(options, new IssueCollector(source));
  const expr = parseFast(source, tokens, builder);
  if (expr === undefined) return diagnose(source, tokens, options);
  if (builder.issues.count > 0) return builder.issues.report();
  return {
    ok: true,
    parsed: { source: source.text, expr, macroCalls: builder.macroCalls, maxId: builder.factory.maxId },
  };
}
