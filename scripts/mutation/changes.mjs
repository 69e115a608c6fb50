// The changes that are made to a source file: each is a small mistake that somebody could make, at one place.
import { SyntaxKind } from "typescript/unstable/ast";

/** What an operator is confused with. */
const OPERATORS = new Map([
  [SyntaxKind.AmpersandAmpersandToken, ["||"]],
  [SyntaxKind.BarBarToken, ["&&"]],
  [SyntaxKind.EqualsEqualsEqualsToken, ["!=="]],
  [SyntaxKind.ExclamationEqualsEqualsToken, ["==="]],
  [SyntaxKind.LessThanToken, ["<=", ">="]],
  [SyntaxKind.LessThanEqualsToken, ["<", ">"]],
  [SyntaxKind.GreaterThanToken, [">=", "<="]],
  [SyntaxKind.GreaterThanEqualsToken, [">", "<"]],
  [SyntaxKind.PlusToken, ["-"]],
  [SyntaxKind.MinusToken, ["+"]],
  [SyntaxKind.PlusEqualsToken, ["-="]],
  [SyntaxKind.MinusEqualsToken, ["+="]],
  [SyntaxKind.InstanceOfKeyword, []],
]);

/** Words that stand for a decision, and those they are confused with. */
const WORDS = new Map([
  ["allow", ["deny", "error"]],
  ["deny", ["allow", "error"]],
  ["error", ["allow", "deny"]],
  ["skip", ["allow", "error"]],
  ["monitor", ["protect"]],
  ["raw", ["admission"]],
  ["admission", ["raw"]],
]);

/** Methods that are confused with another one; `undefined` leaves the call out. */
const METHODS = new Map([
  ["some", "every"],
  ["every", "some"],
  ["min", "max"],
  ["max", "min"],
  ["filter", undefined],
  ["reverse", undefined],
  ["trim", undefined],
]);

/** What types say is no code. */
const SILENT = new Set([
  SyntaxKind.ImportDeclaration,
  SyntaxKind.ExportDeclaration,
  SyntaxKind.InterfaceDeclaration,
  SyntaxKind.TypeAliasDeclaration,
  SyntaxKind.TypeReference,
  SyntaxKind.UnionType,
  SyntaxKind.LiteralType,
  SyntaxKind.TypeLiteral,
  SyntaxKind.FunctionType,
  SyntaxKind.TypePredicate,
]);

/**
 * Every change of a file, in its order.
 * @returns {{ at: number, end: number, to: string, what: string }[]} the text from `at` to `end` becomes `to`
 */
export function changesOf(sourceFile) {
  const { text } = sourceFile;
  const changes = [];
  const startOf = (node) => node.getStart(sourceFile);
  const textOf = (node) => text.slice(startOf(node), node.end);
  const change = (node, to, what) => {
    if (textOf(node) !== to) changes.push({ at: startOf(node), end: node.end, to, what });
  };

  const visitors = new Map([
    [
      SyntaxKind.BinaryExpression,
      ({ left, operatorToken, right }, node) => {
        for (const to of OPERATORS.get(operatorToken.kind) ?? []) change(operatorToken, to, "operator");
        if (operatorToken.kind === SyntaxKind.QuestionQuestionToken) {
          change(node, `(${textOf(left)})`, "no default");
          change(node, `(${textOf(right)})`, "always the default");
        }
        const joins = [SyntaxKind.AmpersandAmpersandToken, SyntaxKind.BarBarToken].includes(operatorToken.kind);
        if (joins) change(node, `(${textOf(left)})`, "right side left out");
        if (joins) change(node, `(${textOf(right)})`, "left side left out");
      },
    ],
    [
      SyntaxKind.PrefixUnaryExpression,
      ({ operator, operand }, node) => {
        if (operator === SyntaxKind.ExclamationToken) change(node, textOf(operand), "no negation");
      },
    ],
    [
      SyntaxKind.IfStatement,
      ({ expression }) => {
        change(expression, "true", "condition");
        change(expression, "false", "condition");
      },
    ],
    [SyntaxKind.WhileStatement, ({ expression }) => change(expression, "false", "condition")],
    [
      SyntaxKind.ConditionalExpression,
      ({ whenTrue, whenFalse }, node) => {
        change(node, `(${textOf(whenTrue)})`, "always the first");
        change(node, `(${textOf(whenFalse)})`, "always the second");
      },
    ],
    [SyntaxKind.TrueKeyword, (_, node) => change(node, "false", "literal")],
    [SyntaxKind.FalseKeyword, (_, node) => change(node, "true", "literal")],
    [SyntaxKind.NumericLiteral, (_, node) => change(node, `(${textOf(node)} + 1)`, "number")],
    [
      SyntaxKind.StringLiteral,
      (_, node) => {
        const known = WORDS.get(node.text);
        for (const to of known ?? []) change(node, JSON.stringify(to), "word");
        if (known === undefined) change(node, node.text === "" ? '"changed"' : '""', "text");
      },
    ],
    [SyntaxKind.ExpressionStatement, (_, node) => change(node, ";", "statement left out")],
    [SyntaxKind.BreakStatement, (_, node) => change(node, ";", "statement left out")],
    [SyntaxKind.ContinueStatement, (_, node) => change(node, ";", "statement left out")],
    [SyntaxKind.SpreadAssignment, (_, node) => change(node, "...{}", "spread left out")],
    [
      SyntaxKind.CallExpression,
      ({ expression }, node) => {
        if (expression.kind !== SyntaxKind.PropertyAccessExpression || !METHODS.has(expression.name.text)) return;
        const other = METHODS.get(expression.name.text);
        if (other === undefined) change(node, textOf(expression.expression), `no ${expression.name.text}`);
        else change(expression.name, other, "method");
      },
    ],
    [
      SyntaxKind.CaseClause,
      ({ statements }, node) => {
        const [first] = statements;
        // What falls through would be another's case.
        if (first !== undefined)
          changes.push({
            at: startOf(node),
            end: startOf(first),
            to: "case undefined as never: ",
            what: "case left out",
          });
      },
    ],
  ]);

  const visit = (node) => {
    if (SILENT.has(node.kind)) return;
    visitors.get(node.kind)?.(node, node);
    node.forEachChild((child) => {
      // Names of properties are not what a program says.
      if (!(node.kind === SyntaxKind.PropertyAssignment && child === node.name)) visit(child);
    });
  };
  visit(sourceFile);
  return changes.sort((a, b) => a.at - b.at || a.end - b.end);
}
