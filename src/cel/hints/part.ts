/** A part of an expression, and the expression with another text in its place. */
import type { CallExpr, Expr, ParsedExpr } from "../ast.js";
import { unparse } from "../unparse/unparse.js";
import { children } from "../walk.js";

/** A part with a mistake, and the expression around it. */
export class Part {
  readonly #parsed: ParsedExpr;
  /** The parts from this one to the whole expression. */
  readonly #way: readonly Expr[];

  private constructor(parsed: ParsedExpr, way: readonly Expr[]) {
    this.#parsed = parsed;
    this.#way = way;
  }

  /** The part with this id; undefined where the expression has none. */
  static of(parsed: ParsedExpr, id: number): Part | undefined {
    const way = wayTo(parsed, id);
    return way === undefined ? undefined : new Part(parsed, way);
  }

  get expr(): Expr {
    return this.#way[0]!;
  }

  /** The part that contains it; undefined for the whole expression. */
  get parent(): Part | undefined {
    return this.#way.length < 2 ? undefined : new Part(this.#parsed, this.#way.slice(1));
  }

  /** The text as written, in one line. */
  text(expr: Expr = this.expr): string {
    return unparse(expr, this.#parsed.macroCalls);
  }

  /** The text as an operand of `.`: in parentheses where it needs them. */
  operand(expr: Expr): string {
    const text = this.text(expr);
    return isOperand(text) ? text : `(${text})`;
  }

  /** The whole expression with another text in the place of this part. */
  replacedBy(text: string): string {
    const put: Expr = {
      kind: "ident",
      id: this.expr.id,
      offset: 0,
      name: this.#way.length === 1 || isOperand(text) ? text : `(${text})`,
      rooted: false,
    };
    const { expr, macroCalls } = this.#parsed;
    const swap = (each: Expr): Expr => (each.id === put.id ? put : withChildren(each, swap));
    // A changed macro call is not printed as it was.
    const calls = [...macroCalls].filter(([id]) => id !== put.id);
    return unparse(swap(expr), new Map(calls.map(([id, call]) => [id, withChildren(call, swap) as CallExpr])));
  }
}

/** Whether a text needs no parentheses as an operand: a name, a literal, or calls and fields of one. */
function isOperand(text: string): boolean {
  let depth = 0;
  let quote = "";
  for (let i = 0; i < text.length; i += 1) {
    const character = text[i]!;
    if (quote !== "") {
      if (character === "\\") i += 1;
      else if (character === quote) quote = "";
    } else if (character === '"' || character === "'") quote = character;
    else if ("([{".includes(character)) depth += 1;
    else if (")]}".includes(character)) depth -= 1;
    else if (depth === 0 && (/[\s!<>=+*%/&|:-]/.test(character) || (character === "?" && text[i - 1] !== ".")))
      return false;
  }
  return true;
}

function wayTo({ expr, macroCalls }: ParsedExpr, id: number): readonly Expr[] | undefined {
  const stack: { readonly expr: Expr; readonly above: Way | undefined }[] = [{ expr, above: undefined }];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (next.expr.id === id) return listOf(next);
    const macro = macroCalls.get(next.expr.id);
    for (const child of macro === undefined ? children(next.expr) : children(macro)) {
      stack.push({ expr: child, above: next });
    }
  }
  return undefined;
}

interface Way {
  readonly expr: Expr;
  readonly above: Way | undefined;
}

function listOf(way: Way): readonly Expr[] {
  const list: Expr[] = [];
  for (let each: Way | undefined = way; each !== undefined; each = each.above) list.push(each.expr);
  return list;
}

/** The same with other children. */
function withChildren(expr: Expr, swap: (child: Expr) => Expr): Expr {
  switch (expr.kind) {
    case "literal":
    case "ident":
      return expr;
    case "select":
      return { ...expr, operand: swap(expr.operand) };
    case "call":
      return { ...expr, target: expr.target && swap(expr.target), args: expr.args.map(swap) };
    case "list":
      return { ...expr, elements: expr.elements.map(swap) };
    case "map":
      return {
        ...expr,
        entries: expr.entries.map((each) => ({ ...each, key: swap(each.key), value: swap(each.value) })),
      };
    case "struct":
      return { ...expr, fields: expr.fields.map((each) => ({ ...each, value: swap(each.value) })) };
    case "comprehension":
      // As written it is a macro call, and that is printed.
      return expr;
  }
}
