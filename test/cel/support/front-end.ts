/** Short forms for testing parser and checker. */
import assert from "node:assert/strict";
import type { ParsedExpr } from "../../../src/cel/ast.js";
import type { CheckedExpr, Declarations } from "../../../src/cel/checked.js";
import { TypeChecker } from "../../../src/cel/checker/index.js";
import { validate } from "../../../src/cel/checker/validators/index.js";
import type { IssueReport } from "../../../src/cel/issues.js";
import { parserOptions } from "../../../src/cel/macros/macro-sets.js";
import { parse } from "../../../src/cel/parser/index.js";
import { vectorDeclarations } from "./vectors.js";

const NEWEST = vectorDeclarations();

/** The tree of an expression that parses. */
export function parsed(expr: string, declarations: Declarations = NEWEST): ParsedExpr {
  const result = parse(expr, parserOptions(declarations.flavour, declarations.version));
  assert.ok(result.ok, result.ok ? "" : result.text);
  return result.parsed;
}

/** The checked tree, or what is wrong with the expression. */
export function checked(expr: string, declarations: Declarations = NEWEST): CheckedExpr | IssueReport {
  const result = parse(expr, parserOptions(declarations.flavour, declarations.version));
  if (!result.ok) return result;
  const outcome = new TypeChecker(declarations).check(result.parsed);
  if (!outcome.ok) return outcome;
  return validate(outcome.checked, declarations) ?? outcome.checked;
}

/** What is wrong with an expression, as `line:column message`. */
export function issuesOf(expr: string, declarations: Declarations = NEWEST): readonly string[] {
  const result = checked(expr, declarations);
  if (!("issues" in result)) return [];
  return result.issues.map(({ line, column, message }) => `${line}:${column} ${message}`);
}

/** What Kubernetes' parser lists where an expression may start. */
export const EXPR =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
