/** Makes an expression of a syntax tree that may be broken: for the problems that show only there. The expression itself is thrown away. */
import type { Expr } from "../../ast.js";
import { type AstBuilder, isReserved } from "../ast-builder.js";
import { MAX_DEPTH } from "../limits.js";
import { doubleValue, intValue, uintValue } from "../literals.js";
import { Abandoned } from "./recognizer.js";
import type { TreeNode } from "./syntax-tree.js";

/** The place of an expression that isn't there. */
const NOWHERE = -1;

const OPERATORS: ReadonlyMap<string, string> = new Map(
  ["<", "<=", ">=", ">", "==", "!=", "*", "/", "%", "+", "-"].map((operator) => [operator, `_${operator}_`] as const),
);

/** Reads one tree. */
export class TreeReader {
  /** Counted nodes on the path to the current one. */
  #depth = 0;

  constructor(readonly builder: AstBuilder) {}

  /** The expression of a node; a placeholder where there is none. */
  read(node: TreeNode | undefined): Expr {
    if (node === undefined) return this.builder.placeholder(NOWHERE);
    const { builder } = this;
    switch (node.name ?? node.rule) {
      case "start":
      case "nested":
        return this.read(node.node("e"));
      case "expr":
        return node.token("op") === undefined ? this.read(node.node("e")) : this.#deeper(() => this.#conditional(node));
      case "conditionalOr":
        return this.#logic(node, "_||_");
      case "conditionalAnd":
        return this.#logic(node, "_&&_");
      case "relation":
      case "calc":
        if (node.token("op") !== undefined) return this.#deeper(() => this.#operator(node));
        return this.read(node.node("calc") ?? node.node("unary"));
      case "memberExpr":
        return this.read(node.node("member"));
      case "not":
        return this.#sign(node, "!_");
      case "negate":
        return this.#sign(node, "-_");
      case "select":
        return this.#deeper(() => this.#select(node));
      case "memberCall":
        return this.#deeper(() => this.#memberCall(node));
      case "index":
        return this.#deeper(() => this.#index(node));
      case "member":
        return this.read(node.node("primary"));
      case "unary":
        return builder.placeholder(node.offset);
      case "primary":
        return builder.placeholder(NOWHERE);
      case "ident":
        return this.#ident(node);
      case "globalCall":
        return this.#globalCall(node);
      case "list":
        return this.#list(node);
      case "map":
        return this.#map(node);
      case "message":
        return this.#message(node);
      case "literal":
        return this.read(node.node("literal"));
      default:
        return this.#literal(node);
    }
  }

  #deeper(read: () => Expr): Expr {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw new Abandoned("max recursion depth exceeded");
    const expr = read();
    this.#depth -= 1;
    return expr;
  }

  #conditional(node: TreeNode): Expr {
    const condition = this.read(node.node("e"));
    const branches = [this.read(node.node("e1")), this.read(node.node("e2"))];
    return this.builder.operator(node.token("op")!.offset, "_?_:_", [condition, ...branches]);
  }

  #logic(node: TreeNode, name: string): Expr {
    const terms = [this.read(node.node("e")), ...node.nodes("e1").map((term) => this.read(term))];
    if (terms.length === 1) return terms[0]!;
    return this.builder.balanced(
      name,
      terms,
      node.tokens("ops").map(({ offset }) => offset),
    );
  }

  #operator(node: TreeNode): Expr {
    const { text, offset } = node.token("op")!;
    const operands = [this.read(node.node("left")), this.read(node.node("right"))];
    return this.builder.operator(offset, text === "in" ? "@in" : (OPERATORS.get(text) ?? text), operands);
  }

  #sign(node: TreeNode, name: string): Expr {
    const operand = this.read(node.node("member"));
    const operators = node.tokens("ops");
    return operators.length % 2 === 0 ? operand : this.builder.operator(operators[0]!.offset, name, [operand]);
  }

  #select(node: TreeNode): Expr {
    const operand = this.read(node.node("left"));
    const [dot, field] = [node.token("op"), node.node("id")];
    if (dot === undefined || field === undefined) return this.builder.placeholder(node.offset);
    const name = this.#fieldName(field, field.offset);
    if (node.token("opt") === undefined) return this.builder.select(dot.offset, operand, name);
    if (!this.builder.options.optionalSyntax) return this.builder.invalid(dot.offset, "unsupported syntax '.?'");
    return this.builder.optionalSelect(dot.offset, operand, field.offset, name);
  }

  /** The name that a field is written with; reported at `offset` if there is none. */
  #fieldName(field: TreeNode | undefined, offset: number): string {
    const token = field?.token("id");
    if (token === undefined) {
      this.builder.issues.add(offset, "unsupported ident kind");
      return "";
    }
    return field?.name === "escaped" ? token.text.slice(1, -1) : token.text;
  }

  #memberCall(node: TreeNode): Expr {
    const operand = this.read(node.node("left"));
    const name = node.token("id");
    if (name === undefined) return this.builder.placeholder(node.offset);
    const args = this.#arguments(node);
    return this.builder.call(node.token("open")?.offset ?? NOWHERE, name.text, operand, args, false);
  }

  #index(node: TreeNode): Expr {
    const operand = this.read(node.node("left"));
    const bracket = node.token("op");
    if (bracket === undefined) return this.builder.placeholder(node.offset);
    const index = this.read(node.node("index"));
    const optional = node.token("opt") !== undefined;
    if (optional && !this.builder.options.optionalSyntax) {
      return this.builder.invalid(bracket.offset, "unsupported syntax '[?'");
    }
    return this.builder.operator(bracket.offset, optional ? "_[?_]" : "_[_]", [operand, index]);
  }

  #arguments(node: TreeNode): Expr[] {
    return (node.node("args")?.nodes("e") ?? []).map((arg) => this.read(arg));
  }

  #ident(node: TreeNode): Expr {
    const name = node.token("id");
    if (name === undefined) return this.builder.placeholder(node.offset);
    return this.builder.variable(node.token("leadingDot")?.offset ?? name.offset, name.offset, name.text);
  }

  #globalCall(node: TreeNode): Expr {
    const name = node.token("id");
    if (name === undefined) return this.builder.placeholder(node.offset);
    if (isReserved(name.text)) return this.builder.invalid(node.offset, `reserved identifier: ${name.text}`);
    const rooted = node.token("leadingDot") !== undefined;
    return this.builder.call(node.token("op")?.offset ?? NOWHERE, name.text, undefined, this.#arguments(node), rooted);
  }

  #refusesOptional(node: TreeNode): boolean {
    const mark = node.token("opt");
    if (mark === undefined || this.builder.options.optionalSyntax) return false;
    this.builder.issues.add(mark.offset, "unsupported syntax '?'");
    return true;
  }

  #list(node: TreeNode): Expr {
    const elements = (node.node("elems")?.nodes("elems") ?? []).map((element) => {
      const expr = this.read(element.node("e"));
      this.#refusesOptional(element);
      return expr;
    });
    this.builder.factory.offset = node.token("op")?.offset ?? NOWHERE;
    return this.builder.factory.list(...elements);
  }

  #map(node: TreeNode): Expr {
    const list = node.node("entries");
    const [keys, values] = [list?.nodes("keys") ?? [], list?.nodes("values") ?? []];
    for (const [index] of (list?.tokens("cols") ?? []).entries()) {
      const [key, value] = [keys[index], values[index]];
      if (key === undefined || value === undefined) break;
      if (this.#refusesOptional(key)) continue;
      this.read(key.node("e"));
      this.read(value);
    }
    this.builder.factory.offset = node.token("op")?.offset ?? NOWHERE;
    return this.builder.factory.emptyMap();
  }

  #message(node: TreeNode): Expr {
    const list = node.node("entries");
    const [colons, values] = [list?.tokens("cols") ?? [], list?.nodes("values") ?? []];
    for (const [index, field] of (list?.nodes("fields") ?? []).entries()) {
      const value = values[index];
      if (colons[index] === undefined || value === undefined) break;
      if (this.#refusesOptional(field)) continue;
      if (this.#fieldName(field.node("id"), list?.offset ?? NOWHERE) !== "") this.read(value);
    }
    this.builder.factory.offset = node.token("op")?.offset ?? NOWHERE;
    return this.builder.factory.emptyMap();
  }

  #literal(node: TreeNode): Expr {
    const { builder } = this;
    const token = node.token("tok");
    if (token === undefined || token.index < 0) return builder.placeholder(node.offset);
    const negative = node.token("sign") !== undefined;
    switch (node.name) {
      case "int":
        return builder.checkedLiteral(node.offset, intValue(token.text, negative));
      case "uint":
        return builder.checkedLiteral(node.offset, uintValue(token.text));
      case "double":
        return builder.checkedLiteral(node.offset, doubleValue(token.text, negative));
      case "string":
        return builder.string(node.offset, token.text);
      case "bytes":
        return builder.bytes(node.offset, token.text);
      default:
        return builder.literal(node.offset, null);
    }
  }
}
