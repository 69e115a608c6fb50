/** Makes an expression of a syntax tree that may be broken, for the problems that show only there. The expression itself is discarded. */
import type { Expr } from "../../ast.js";
import { type AstBuilder, isReserved } from "../ast-builder.js";
import { MAX_DEPTH } from "../limits.js";
import { doubleValue, intValue, uintValue } from "../literals.js";
import { Abandoned } from "./recognizer.js";
import type { TreeNode } from "./syntax-tree.js";

/** The place of a missing expression. */
const NOWHERE = -1;

/** Reads one tree; an instance serves for one. */
export class TreeReader {
  /** Counted nodes on the path to the current one. */
  #depth = 0;

  constructor(readonly builder: AstBuilder) {}

  /** The expression of a node; a placeholder where there is none. */
  read(node: TreeNode | undefined): Expr {
    if (node === undefined) return this.builder.placeholder(NOWHERE);
    switch (node.name ?? node.rule) {
      case "expr":
        return node.token("op") === undefined ? this.read(node.node("e")) : this.#deeper(() => this.#conditional(node));
      case "conditionalOr":
        return this.#logic(node, "_||_");
      case "conditionalAnd":
        return this.#logic(node, "_&&_");
      case "relation":
      case "calc":
        return node.token("op") === undefined ? this.read(node.node("e")) : this.#deeper(() => this.#operator(node));
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
      case "unary":
        return this.builder.placeholder(node.offset);
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
      default:
        return node.rule === "literal" ? this.#literal(node) : this.read(node.node("e"));
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
    const parts = ["e", "e1", "e2"].map((label) => this.read(node.node(label)));
    return this.builder.operator(node.token("op")!.offset, "_?_:_", parts);
  }

  #logic(node: TreeNode, name: string): Expr {
    const terms = [this.read(node.node("e")), ...node.nodes("e1").map((term) => this.read(term))];
    const offsets = node.tokens("ops").map(({ offset }) => offset);
    return offsets.length === 0 ? terms[0]! : this.builder.balanced(name, terms, offsets);
  }

  #operator(node: TreeNode): Expr {
    const { text, offset } = node.token("op")!;
    const operands = [this.read(node.node("left")), this.read(node.node("right"))];
    return this.builder.operator(offset, text === "in" ? "@in" : `_${text}_`, operands);
  }

  #sign(node: TreeNode, name: string): Expr {
    const operand = this.read(node.node("e"));
    const operators = node.tokens("ops");
    return operators.length % 2 === 0 ? operand : this.builder.operator(operators[0]!.offset, name, [operand]);
  }

  #select(node: TreeNode): Expr {
    const operand = this.read(node.node("left"));
    const { offset } = node.token("op")!;
    const field = node.node("id")!;
    const name = this.#fieldName(field, field.offset);
    if (node.token("opt") === undefined) return this.builder.select(offset, operand, name);
    if (!this.builder.options.optionalSyntax) return this.builder.invalid(offset, "unsupported syntax '.?'");
    return this.builder.optionalSelect(offset, operand, field.offset, name);
  }

  /** The name that a field is written with; reported at `offset` if there is none. */
  #fieldName(field: TreeNode | undefined, offset: number): string {
    const token = field?.token("id");
    if (token === undefined) {
      this.builder.issues.add(offset, "unsupported ident kind");
      return "";
    }
    if (field?.name !== "escaped") return token.text;
    if (this.builder.options.quotedNames) return token.text.slice(1, -1);
    this.builder.issues.add(offset, "unsupported syntax: '`'");
    return "";
  }

  #memberCall(node: TreeNode): Expr {
    const operand = this.read(node.node("left"));
    const args = this.#arguments(node);
    return this.builder.call(node.token("open")!.offset, node.token("id")!.text, operand, args, false);
  }

  #index(node: TreeNode): Expr {
    const operands = [this.read(node.node("left")), this.read(node.node("index"))];
    const { offset } = node.token("op")!;
    if (node.token("opt") === undefined) return this.builder.operator(offset, "_[_]", operands);
    if (!this.builder.options.optionalSyntax) return this.builder.invalid(offset, "unsupported syntax '[?'");
    return this.builder.operator(offset, "_[?_]", operands);
  }

  #arguments(node: TreeNode): Expr[] {
    return (node.node("args")?.nodes("e") ?? []).map((arg) => this.read(arg));
  }

  #ident(node: TreeNode): Expr {
    const { offset, text } = node.token("id")!;
    return this.builder.variable(node.token("leadingDot")?.offset ?? offset, offset, text);
  }

  #globalCall(node: TreeNode): Expr {
    const name = node.token("id")!.text;
    if (isReserved(name)) return this.builder.invalid(node.offset, `reserved identifier: ${name}`);
    const rooted = node.token("leadingDot") !== undefined;
    return this.builder.call(node.token("op")!.offset, name, undefined, this.#arguments(node), rooted);
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
    this.builder.factory.offset = node.token("op")!.offset;
    return this.builder.factory.list(...elements);
  }

  /** Reads the entries of a map or message that have all their parts, for their problems. */
  #entries(node: TreeNode, readKey: (key: TreeNode, list: TreeNode) => boolean): Expr {
    const list = node.node("entries");
    const [colons, values] = [list?.tokens("cols") ?? [], list?.nodes("values") ?? []];
    for (const [index, key] of (list?.nodes("keys") ?? []).entries()) {
      const value = values[index];
      if (colons[index] === undefined || value === undefined) break;
      if (!this.#refusesOptional(key) && readKey(key, list!)) this.read(value);
    }
    this.builder.factory.offset = node.token("op")!.offset;
    return this.builder.factory.emptyMap();
  }

  #map(node: TreeNode): Expr {
    return this.#entries(node, (key) => {
      this.read(key.node("e"));
      return true;
    });
  }

  #message(node: TreeNode): Expr {
    return this.#entries(node, (key, list) => this.#fieldName(key.node("id"), list.offset) !== "");
  }

  #literal(node: TreeNode): Expr {
    const { builder } = this;
    const token = node.token("tok");
    if (token === undefined) return builder.placeholder(node.offset);
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
