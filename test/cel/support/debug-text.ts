/** Prints a tree in the form of the official parser data: every node with the kind it has in the reference's messages. */
import type { CallExpr, ComprehensionExpr, Expr, FieldInit, MapEntry } from "../../../src/cel/ast.js";
import { literalText } from "../../../src/cel/unparse/unparse.js";
import { Uint } from "../../../src/cel/values/uint.js";
import type { Value } from "../../../src/cel/values/value.js";

function literalKind(value: Value): string {
  switch (typeof value) {
    case "string":
      return "StringValue";
    case "boolean":
      return "BoolValue";
    case "bigint":
      return "Int64Value";
    case "number":
      return Number.isSafeInteger(value) ? "Int64Value" : "DoubleValue";
    default:
      if (value === null) return "NullValue";
      if (value instanceof Uint) return "Uint64Value";
      return value instanceof Uint8Array ? "BytesValue" : "DoubleValue";
  }
}

/** Doubles are printed in their shortest form, integral ones without a fraction. */
function valueText(value: Value): string {
  return value instanceof Number ? `${value.valueOf()}` : literalText(value);
}

/** The text of a tree. */
export function debugText(expr: Expr): string {
  return new Printer().print(expr);
}

class Printer {
  #indent = 0;

  print(expr: Expr): string {
    switch (expr.kind) {
      case "literal":
        return `${valueText(expr.value)}^#*expr.Constant_${literalKind(expr.value)}#`;
      case "ident":
        return `${expr.rooted ? "." : ""}${expr.name}^#*expr.Expr_IdentExpr#`;
      case "select": {
        const mark = expr.testOnly ? "~test-only~" : "";
        return `${this.print(expr.operand)}.${expr.field}${mark}^#*expr.Expr_SelectExpr#`;
      }
      case "call":
        return `${this.#call(expr)}^#*expr.Expr_CallExpr#`;
      case "list": {
        const elements = expr.elements.map(
          (element, index) => () => (expr.optional[index] === true ? "?" : "") + this.print(element),
        );
        return `[${this.#lines(elements)}]^#*expr.Expr_ListExpr#`;
      }
      case "map":
        return `{${this.#lines(expr.entries.map((entry) => () => this.#entry(entry)))}}^#*expr.Expr_StructExpr#`;
      case "struct": {
        const fields = expr.fields.map((field) => () => this.#field(field));
        return `${expr.typeName}{${this.#lines(fields)}}^#*expr.Expr_StructExpr#`;
      }
      case "comprehension":
        return `${this.#comprehension(expr)}^#*expr.Expr_ComprehensionExpr#`;
    }
  }

  #newLine(): string {
    return `\n${"  ".repeat(this.#indent)}`;
  }

  /** Items on lines of their own, one step further in. */
  #lines(items: readonly (() => string)[]): string {
    if (items.length === 0) return "";
    this.#indent += 1;
    const text = items.map((item) => this.#newLine() + item()).join(",");
    this.#indent -= 1;
    return text + this.#newLine();
  }

  #call({ target, function: name, args, rooted }: CallExpr): string {
    const receiver = target === undefined ? (rooted ? "." : "") : `${this.print(target)}.`;
    return `${receiver}${name}(${this.#lines(args.map((arg) => () => this.print(arg)))})`;
  }

  #entry({ key, value, optional }: MapEntry): string {
    return `${optional ? "?" : ""}${this.print(key)}:${this.print(value)}^#*expr.Expr_CreateStruct_Entry#`;
  }

  #field({ field, value, optional }: FieldInit): string {
    return `${optional ? "?" : ""}${field}:${this.print(value)}^#*expr.Expr_CreateStruct_Entry#`;
  }

  #comprehension(expr: ComprehensionExpr): string {
    this.#indent += 1;
    const parts: readonly (readonly [string, () => string])[] = [
      ["Variable", () => expr.iterVar],
      ["Target", () => this.print(expr.range)],
      ["Accumulator", () => expr.accuVar],
      ["Init", () => this.print(expr.accuInit)],
      ["LoopCondition", () => this.print(expr.loopCondition)],
      ["LoopStep", () => this.print(expr.loopStep)],
      ["Result", () => this.print(expr.result)],
    ];
    const lines = parts.map(([name, part]) => `${this.#newLine()}// ${name}${this.#newLine()}${part()}`);
    this.#indent -= 1;
    return `__comprehension__(${lines.join(",")})`;
  }
}
