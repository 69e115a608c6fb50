/** Finds everything that is wrong with the syntax of an expression (spec kubernetes-cel.md 1.9). */
import { IssueCollector } from "../../issues.js";
import type { Tokens } from "../../lexer/lexer.js";
import type { Source } from "../../source.js";
import { AstBuilder } from "../ast-builder.js";
import { MAX_SYNTAX_ERRORS } from "../limits.js";
import type { ParseResult } from "../parse-result.js";
import type { ParserOptions } from "../parser-options.js";
import { GRAMMAR } from "./grammar.js";
import { Abandoned, Recognizer } from "./recognizer.js";
import { TokenStream } from "./token-stream.js";
import { TreeReader } from "./tree-reader.js";

/**
 * The result for text that the fast parser gave up on: its errors, or, where only something was unusual and nothing wrong, the expression.
 * Slower than the fast parser by a factor of about a hundred, but bounded.
 */
export function diagnose(source: Source, tokens: Tokens, options: ParserOptions): ParseResult {
  const issues = new IssueCollector(source);
  const builder = new AstBuilder(options, issues);
  let syntaxErrors = 0;
  const report = (offset: number, message: string) => {
    if (syntaxErrors >= MAX_SYNTAX_ERRORS) {
      issues.add(offset, `Syntax error: More than ${MAX_SYNTAX_ERRORS} syntax errors`);
      throw new Abandoned(undefined);
    }
    syntaxErrors += 1;
    issues.add(offset, `Syntax error: ${message}`);
  };
  const stream = new TokenStream(source, tokens, report);
  try {
    const tree = new Recognizer(GRAMMAR, stream, report).parse();
    const expr = new TreeReader(builder).read(tree);
    if (issues.count === 0) {
      const { macroCalls, factory } = builder;
      return { ok: true, parsed: { source: source.text, expr, macroCalls, maxId: factory.maxId } };
    }
  } catch (problem) {
    if (problem instanceof Abandoned) {
      if (problem.problem !== undefined) issues.addGlobal(problem.problem);
    } else {
      throw problem;
    }
  }
  return issues.report();
}
