/** Makes nodes with fresh ids. The parser and the macros share one factory per expression. */
import type {
  CallExpr,
  ComprehensionExpr,
  Expr,
  FieldInit,
  IdentExpr,
  ListExpr,
  LiteralExpr,
  MapEntry,
} from "../ast.js";
import type { Value } from "../values/value.js";

/** The accumulator's name in every macro that has one; `@` can't be written, so nothing collides with it. */
export const ACCUMULATOR = "@result";

/** Comprehension parts, as {@link NodeFactory.comprehension} takes them. */
export type ComprehensionParts = Omit<ComprehensionExpr, "id" | "offset" | "kind">;

const NOT_OPTIONAL: readonly boolean[] = Object.freeze([]);

/** Nodes are placed at {@link offset}, which the parser sets to the macro call's `(` before it expands a macro. */
export class NodeFactory {
  /** Code point offset given to nodes made by macros. */
  offset = 0;
  #lastId = 0;

  /** The largest id in use. */
  get maxId(): number {
    return this.#lastId;
  }

  /** A new id. */
  id(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  literal(value: Value): LiteralExpr {
    return { kind: "literal", id: this.id(), offset: this.offset, value };
  }

  /** A name; with a leading dot, a rooted one. */
  ident(name: string): IdentExpr {
    const rooted = name.startsWith(".");
    return { kind: "ident", id: this.id(), offset: this.offset, name: rooted ? name.slice(1) : name, rooted };
  }

  accumulator(): IdentExpr {
    return this.ident(ACCUMULATOR);
  }

  /** A free call. */
  call(name: string, ...args: Expr[]): CallExpr {
    return { kind: "call", id: this.id(), offset: this.offset, function: name, target: undefined, args, rooted: false };
  }

  memberCall(name: string, target: Expr, ...args: Expr[]): CallExpr {
    return { kind: "call", id: this.id(), offset: this.offset, function: name, target, args, rooted: false };
  }

  list(...elements: Expr[]): ListExpr {
    const optional = elements.length === 0 ? NOT_OPTIONAL : elements.map(() => false);
    return { kind: "list", id: this.id(), offset: this.offset, elements, optional };
  }

  emptyMap(): Expr {
    return { kind: "map", id: this.id(), offset: this.offset, entries: [] };
  }

  presenceTest(operand: Expr, field: string): Expr {
    return { kind: "select", id: this.id(), offset: this.offset, operand, field, testOnly: true };
  }

  comprehension(parts: ComprehensionParts): ComprehensionExpr {
    return { kind: "comprehension", id: this.id(), offset: this.offset, ...parts };
  }

  /** A deep copy with fresh ids; offsets stay, but entries of maps and messages move to {@link offset}. */
  copy(expr: Expr): Expr {
    const id = this.id();
    switch (expr.kind) {
      case "literal":
      case "ident":
        return { ...expr, id };
      case "select":
        return { ...expr, id, operand: this.copy(expr.operand) };
      case "call": {
        const args = expr.args.map((arg) => this.copy(arg));
        return { ...expr, id, args, target: expr.target === undefined ? undefined : this.copy(expr.target) };
      }
      case "list":
        return { ...expr, id, elements: expr.elements.map((element) => this.copy(element)) };
      case "map":
        return { ...expr, id, entries: expr.entries.map((entry) => this.#copyEntry(entry)) };
      case "struct":
        return { ...expr, id, fields: expr.fields.map((field) => this.#copyField(field)) };
      case "comprehension":
        return {
          ...expr,
          id,
          range: this.copy(expr.range),
          accuInit: this.copy(expr.accuInit),
          loopCondition: this.copy(expr.loopCondition),
          loopStep: this.copy(expr.loopStep),
          result: this.copy(expr.result),
        };
    }
  }

  #copyEntry(entry: MapEntry): MapEntry {
    return { ...entry, id: this.id(), offset: this.offset, key: this.copy(entry.key), value: this.copy(entry.value) };
  }

  #copyField(field: FieldInit): FieldInit {
    return { ...field, id: this.id(), offset: this.offset, value: this.copy(field.value) };
  }
}
