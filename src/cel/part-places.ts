/**
 * Where each part of an expression stands in its text. The tree has one position for each node, that of its operator or bracket, as the reference has
 * it; where a part begins and ends is found with the tokens. Made on demand: parsing has no use for it.
 */
import type { CallExpr, Expr, ParsedExpr } from "./ast.js";
import { type Tokens, tokenize } from "./lexer/lexer.js";
import * as T from "./lexer/token-type.js";
import { Source } from "./source.js";

/** A stretch of the text, in UTF-16 units: `source.slice(from, to)`. */
export interface Place {
  readonly from: number;
  readonly to: number;
}

/** The first and the last token of a part. */
interface Range {
  readonly first: number;
  readonly last: number;
}

const OPENS: ReadonlySet<number> = new Set([T.LEFT_PAREN, T.LEFT_BRACKET, T.LEFT_BRACE]);
const CLOSES: ReadonlySet<number> = new Set([T.RIGHT_PAREN, T.RIGHT_BRACKET, T.RIGHT_BRACE]);

/** The places of the parts of one expression, as they are written: a macro's call, and not what it was expanded to. */
export class PartPlaces {
  readonly #tokens: Tokens;
  readonly #macroCalls: ParsedExpr["macroCalls"];
  /** Tokens by the code point offset at which they begin. */
  readonly #byOffset = new Map<number, number>();
  /** The bracket that belongs to each bracket. */
  readonly #partners = new Map<number, number>();
  readonly #ranges = new Map<Expr, Range | undefined>();

  constructor({ source, macroCalls }: Pick<ParsedExpr, "source" | "macroCalls">) {
    const text = new Source(source);
    this.#tokens = tokenize(text.text);
    this.#macroCalls = macroCalls;
    const open: number[] = [];
    for (const [token, type] of this.#tokens.types.entries()) {
      this.#byOffset.set(text.offsetOf(this.#tokens.starts[token]!), token);
      if (OPENS.has(type)) open.push(token);
      if (!CLOSES.has(type)) continue;
      const partner = open.pop();
      if (partner === undefined) continue;
      this.#partners.set(partner, token);
      this.#partners.set(token, partner);
    }
  }

  /** @returns undefined for parts that were not written: macros make such parts */
  of(expr: Expr): Place | undefined {
    const range = this.#range(expr);
    return range && { from: this.#tokens.starts[range.first]!, to: this.#tokens.ends[range.last]! };
  }

  #range(expr: Expr): Range | undefined {
    if (!this.#ranges.has(expr)) this.#ranges.set(expr, this.#find(expr));
    return this.#ranges.get(expr);
  }

  #find(expr: Expr): Range | undefined {
    const call = this.#macroCalls.get(expr.id);
    if (call !== undefined) return this.#call(call);
    const token = this.#byOffset.get(expr.offset);
    if (token === undefined) return undefined;
    switch (expr.kind) {
      case "literal":
        return { first: token, last: this.#is(token, T.MINUS) ? token + 1 : token };
      case "ident":
        return this.#is(token, T.IDENTIFIER) ? { first: expr.rooted ? token - 1 : token, last: token } : undefined;
      case "select":
        return this.#from(expr.operand, token + 1);
      case "call":
        return this.#call(expr);
      case "list":
      case "map":
        return this.#through(token, token);
      case "struct":
        return this.#through(this.#typeName(token), token);
      case "comprehension":
        return undefined;
    }
  }

  #call(expr: CallExpr): Range | undefined {
    const { target, args, rooted } = expr;
    const token = this.#byOffset.get(expr.offset);
    const first = args[0];
    if (token === undefined) return undefined;
    if (target !== undefined) return this.#from(target, this.#partners.get(token));
    switch (this.#tokens.types[token]) {
      case T.LEFT_PAREN:
        return this.#through(token - (rooted ? 2 : 1), token);
      case T.LEFT_BRACKET:
        return first && this.#from(first, this.#partners.get(token));
      case T.DOT:
        return first && this.#from(first, token + 2);
      default: {
        const last = args.at(-1);
        const end = last && this.#whole(last)?.last;
        if (first === undefined || end === undefined) return undefined;
        return args.length === 1 ? { first: token, last: end } : this.#from(first, end);
      }
    }
  }

  /** The range from the beginning of an operand through a token. */
  #from(operand: Expr, last: number | undefined): Range | undefined {
    const range = this.#whole(operand);
    return range && last !== undefined ? { first: range.first, last } : undefined;
  }

  /** The range through the bracket that closes another. */
  #through(first: number, bracket: number): Range | undefined {
    const last = this.#partners.get(bracket);
    return last === undefined ? undefined : { first, last };
  }

  /** The range of a part with its parentheses; those of a call follow a name. */
  #whole(expr: Expr): Range | undefined {
    const range = this.#range(expr);
    if (range === undefined) return undefined;
    let { first, last } = range;
    while (
      this.#is(first - 1, T.LEFT_PAREN) &&
      !this.#is(first - 2, T.IDENTIFIER) &&
      this.#partners.get(first - 1) === last + 1
    ) {
      first -= 1;
      last += 1;
    }
    return { first, last };
  }

  /** The token at which the name before a brace begins: `a.b.T{}`. */
  #typeName(brace: number): number {
    let first = brace;
    while (this.#is(first - 1, T.IDENTIFIER) || this.#is(first - 1, T.DOT)) first -= 1;
    return first;
  }

  #is(token: number, type: number): boolean {
    return this.#tokens.types[token] === type;
  }
}
