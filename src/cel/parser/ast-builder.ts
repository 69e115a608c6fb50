/** Makes tree nodes of recognised syntax, for both parsers, and reports errors that the syntax alone does not show. */
import type { CallExpr, Expr } from "../ast.js";
import type { IssueCollector } from "../issues.js";
import { MacroError } from "../macros/macro.js";
import type { Value } from "../values/value.js";
import { bytesValue, LiteralError, stringValue } from "./literals.js";
import { NodeFactory } from "./node-factory.js";
import type { ParserOptions } from "./parser-options.js";

/** Names that can't be variables or free functions, though they may follow a dot (spec kubernetes-cel.md 1.4). */
const RESERVED: ReadonlySet<string> = new Set([
  "as",
  "break",
  "const",
  "continue",
  "else",
  "for",
  "function",
  "if",
  "import",
  "let",
  "loop",
  "package",
  "namespace",
  "return",
  "var",
  "void",
  "while",
]);

/** Whether a name can be neither a variable nor a free function. */
export function isReserved(name: string): boolean {
  return RESERVED.has(name);
}

/** Builds the nodes of one tree. Offsets are code point offsets. */
export class AstBuilder {
  readonly factory = new NodeFactory();
  /** Macro calls as written, by the id of their expansion. */
  readonly macroCalls = new Map<number, CallExpr>();

  constructor(
    readonly options: ParserOptions,
    readonly issues: IssueCollector,
  ) {}

  /** Reports a problem and yields a placeholder for the expression that has it. */
  invalid(offset: number, message: string): Expr {
    this.issues.add(offset, message);
    return this.placeholder(offset);
  }

  /** Stands for an expression that could not be made; the tree is discarded, since there is a problem already. */
  placeholder(offset: number): Expr {
    return this.literal(offset, null);
  }

  literal(offset: number, value: Value): Expr {
    return { kind: "literal", id: this.factory.id(), offset, value };
  }

  /** A literal, or the problem that its token has no value. */
  checkedLiteral(offset: number, value: Value | LiteralError): Expr {
    return value instanceof LiteralError ? this.invalid(offset, value.message) : this.literal(offset, value);
  }

  /** The literal of a STRING token. */
  string(offset: number, token: string): Expr {
    return this.checkedLiteral(offset, stringValue(token));
  }

  /** The literal of a BYTES token. */
  bytes(offset: number, token: string): Expr {
    return this.checkedLiteral(offset, bytesValue(token.slice(1)));
  }

  /** A variable; `start` is the offset of the leading dot, if there is one. */
  variable(start: number, offset: number, name: string): Expr {
    if (RESERVED.has(name)) return this.invalid(start, `reserved identifier: ${name}`);
    return { kind: "ident", id: this.factory.id(), offset, name, rooted: start !== offset };
  }

  select(offset: number, operand: Expr, field: string): Expr {
    return { kind: "select", id: this.factory.id(), offset, operand, field, testOnly: false };
  }

  /** `operand.?field`. */
  optionalSelect(offset: number, operand: Expr, fieldOffset: number, field: string): Expr {
    return this.operator(offset, "_?._", [operand, this.literal(fieldOffset, field)]);
  }

  /** An operator's call; operators are never macros. */
  operator(offset: number, name: string, args: readonly Expr[]): Expr {
    const id = this.factory.id();
    return { kind: "call", id, offset, function: name, target: undefined, args, rooted: false };
  }

  /** A call as written, or the expansion of the macro of that name. */
  call(offset: number, name: string, target: Expr | undefined, args: readonly Expr[], rooted: boolean): Expr {
    const { factory } = this;
    const macro = rooted ? undefined : this.options.macros.find(name, args.length, target !== undefined);
    if (macro !== undefined) {
      factory.offset = offset;
      const expansion = macro.expand(factory, target, args);
      if (expansion instanceof MacroError) return this.invalid(expansion.offset, expansion.message);
      if (expansion !== undefined) {
        const { id } = expansion;
        this.macroCalls.set(id, { kind: "call", id, offset, function: name, target, args, rooted });
        return expansion;
      }
    }
    return { kind: "call", id: factory.id(), offset, function: name, target, args, rooted };
  }

  /** A chain of equal logical operators as a balanced tree, so that long chains are not deep. */
  balanced(name: string, terms: readonly Expr[], offsets: readonly number[]): Expr {
    return this.#balanced(name, terms, offsets, 0, offsets.length - 1);
  }

  #balanced(name: string, terms: readonly Expr[], offsets: readonly number[], low: number, high: number): Expr {
    const middle = (low + high + 1) >> 1;
    const left = middle === low ? terms[middle]! : this.#balanced(name, terms, offsets, low, middle - 1);
    const right = middle === high ? terms[middle + 1]! : this.#balanced(name, terms, offsets, middle + 1, high);
    return this.operator(offsets[middle]!, name, [left, right]);
  }
}
