import { IssueCollector } from "../../issues.js";
import type { Tokens } from "../../lexer/lexer.js";
import type { Source } from "../../source.js";
import type { ParseResult } from "../index.js";
import type { ParserOptions } from "../parser-options.js";

/** Finds the syntax errors. */
export function diagnose(source: Source, _tokens: Tokens, _options: ParserOptions): ParseResult {
  const issues = new IssueCollector(source);
  issues.addGlobal("Syntax error");
  return issues.report();
}
