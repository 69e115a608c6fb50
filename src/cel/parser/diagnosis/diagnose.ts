/** Finds all syntax errors of an expression (spec kubernetes-cel.md 1.9). */
import { IssueCollector, type IssueReport } from "../../issues.js";
import type { Tokens } from "../../lexer/lexer.js";
import type { Source } from "../../source.js";
import { AstBuilder } from "../ast-builder.js";
import { MAX_SYNTAX_ERRORS } from "../limits.js";
import type { ParserOptions } from "../parser-options.js";
import { GRAMMAR } from "./grammar.js";
import { Abandoned, Recognizer } from "./recognizer.js";
import { TokenStream } from "./token-stream.js";
import { TreeReader } from "./tree-reader.js";

/**
 * The problems of a text that the fast parser gave up on. Takes about thirty times as long per token, and time linear in the number of tokens: the
 * number of attempts to continue after an error is bounded.
 */
export function diagnose(source: Source, tokens: Tokens, options: ParserOptions): IssueReport {
  const issues = new IssueCollector(source);
  let syntaxErrors = 0;
  const report = (offset: number, message: string) => {
    if (syntaxErrors >= MAX_SYNTAX_ERRORS) {
      issues.add(offset, `Syntax error: More than ${MAX_SYNTAX_ERRORS} syntax errors`);
      throw new Abandoned(undefined);
    }
    syntaxErrors += 1;
    issues.add(offset, `Syntax error: ${message}`);
  };
  try {
    const tree = new Recognizer(GRAMMAR, new TokenStream(source, tokens, report), report).parse();
    new TreeReader(new AstBuilder(options, issues)).read(tree);
  } catch (problem) {
    if (!(problem instanceof Abandoned)) throw problem;
    if (problem.problem !== undefined) issues.addGlobal(problem.problem);
  }
  // Both parsers know one language. Should they ever differ, the text is refused: the tree read here is not the whole expression.
  if (issues.count === 0) issues.addGlobal("the expression could not be parsed");
  return issues.report();
}
