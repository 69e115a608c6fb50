/**
 * Parses well-formed expressions by precedence climbing (spec kubernetes-cel.md 1.5). It gives up at the first syntax error, where a depth
 * limit is reached, and at syntax the environment lacks; the diagnosing parser then finds the exact errors.
 */
import type { Expr, FieldInit, MapEntry } from "../ast.js";
import type { Tokens } from "../lexer/lexer.js";
import * as T from "../lexer/token-type.js";
import type { Source } from "../source.js";
import { type AstBuilder, isReserved } from "./ast-builder.js";
import { MAX_DEPTH } from "./limits.js";
import { doubleValue, intValue, uintValue } from "./literals.js";

/** Thrown where the fast parser gives up. */
class GaveUp {}

const RELATIONS: ReadonlyMap<number, string> = new Map([
  [T.LESS, "_<_"],
  [T.LESS_EQUALS, "_<=_"],
  [T.GREATER_EQUALS, "_>=_"],
  [T.GREATER, "_>_"],
  [T.EQUALS, "_==_"],
  [T.NOT_EQUALS, "_!=_"],
  [T.IN, "@in"],
]);

/** Arithmetic operators with their precedence: products bind tighter than sums. */
const ARITHMETIC: ReadonlyMap<number, { readonly name: string; readonly precedence: number }> = new Map([
  [T.STAR, { name: "_*_", precedence: 2 }],
  [T.SLASH, { name: "_/_", precedence: 2 }],
  [T.PERCENT, { name: "_%_", precedence: 2 }],
  [T.PLUS, { name: "_+_", precedence: 1 }],
  [T.MINUS, { name: "_-_", precedence: 1 }],
]);

/** The tree of a well-formed expression, or `undefined` where the diagnosing parser is needed. */
export function parseFast(source: Source, tokens: Tokens, builder: AstBuilder): Expr | undefined {
  if (tokens.errors.length > 0) return undefined;
  try {
    return new FastParser(source, tokens, builder).parse();
  } catch (failure) {
    if (failure instanceof GaveUp) return undefined;
    throw failure;
  }
}

class FastParser {
  readonly #types: readonly number[];
  #at = 0;
  /** Current activations of each of the rules that nest deepest: the reference limits each. */
  #expressions = 0;
  #relations = 0;
  #calculations = 0;
  /** Operators, selections, member calls and indexes on the deepest path of the expression parsed last: the reference limits these too. */
  #height = 0;

  constructor(
    readonly source: Source,
    readonly tokens: Tokens,
    readonly builder: AstBuilder,
  ) {
    this.#types = tokens.types;
  }

  parse(): Expr {
    const expr = this.#expression();
    this.#expect(T.EOF);
    return expr;
  }

  #offset(token: number): number {
    return this.source.offsetOf(this.tokens.starts[token]!);
  }

  #text(token: number): string {
    return this.source.text.slice(this.tokens.starts[token], this.tokens.ends[token]);
  }

  /** Consumes a token of this type and answers its index. */
  #expect(type: number): number {
    if (this.#types[this.#at] !== type) throw new GaveUp();
    this.#at += 1;
    return this.#at - 1;
  }

  #accept(type: number): boolean {
    if (this.#types[this.#at] !== type) return false;
    this.#at += 1;
    return true;
  }

  /** Counts one such node on top of children of this height. */
  #raise(height: number): void {
    this.#height = height + 1;
    if (this.#height > MAX_DEPTH) throw new GaveUp();
  }

  #expression(): Expr {
    this.#expressions += 1;
    if (this.#expressions > MAX_DEPTH) throw new GaveUp();
    let expr = this.#or();
    if (this.#types[this.#at] === T.QUESTION) {
      const operator = this.#offset(this.#at);
      this.#at += 1;
      let height = this.#height;
      const whenTrue = this.#or();
      height = Math.max(height, this.#height);
      this.#expect(T.COLON);
      const whenFalse = this.#expression();
      this.#raise(Math.max(height, this.#height));
      expr = this.builder.operator(operator, "_?_:_", [expr, whenTrue, whenFalse]);
    }
    this.#expressions -= 1;
    return expr;
  }

  #or(): Expr {
    return this.#chain(this.#and(), T.OR, "_||_");
  }

  #and(): Expr {
    return this.#chain(this.#relation(false), T.AND, "_&&_");
  }

  /** The terms of a logical operator, of which the first is parsed. */
  #chain(first: Expr, type: number, name: string): Expr {
    if (this.#types[this.#at] !== type) return first;
    const terms = [first];
    const operators: number[] = [];
    let height = this.#height;
    while (this.#types[this.#at] === type) {
      operators.push(this.#offset(this.#at));
      this.#at += 1;
      terms.push(type === T.OR ? this.#and() : this.#relation(false));
      height = Math.max(height, this.#height);
    }
    this.#height = height;
    return this.builder.balanced(name, terms, operators);
  }

  /** `operand`: the right side of a relation, which takes no relation operator itself (they associate to the left). */
  #relation(operand: boolean): Expr {
    this.#relations += 1;
    if (this.#relations > MAX_DEPTH) throw new GaveUp();
    let left = this.#calculation(0);
    for (;;) {
      const name = operand ? undefined : RELATIONS.get(this.#types[this.#at]!);
      if (name === undefined) break;
      const operator = this.#offset(this.#at);
      this.#at += 1;
      const height = this.#height;
      const right = this.#relation(true);
      this.#raise(Math.max(height, this.#height));
      left = this.builder.operator(operator, name, [left, right]);
    }
    this.#relations -= 1;
    return left;
  }

  #calculation(above: number): Expr {
    this.#calculations += 1;
    if (this.#calculations > MAX_DEPTH) throw new GaveUp();
    let left = this.#unary();
    for (;;) {
      const arithmetic = ARITHMETIC.get(this.#types[this.#at]!);
      if (arithmetic === undefined || arithmetic.precedence <= above) break;
      const operator = this.#offset(this.#at);
      this.#at += 1;
      const height = this.#height;
      const right = this.#calculation(arithmetic.precedence);
      this.#raise(Math.max(height, this.#height));
      left = this.builder.operator(operator, arithmetic.name, [left, right]);
    }
    this.#calculations -= 1;
    return left;
  }

  #unary(): Expr {
    const type = this.#types[this.#at];
    if (type !== T.NOT && type !== T.MINUS) return this.#member();
    const first = this.#at;
    while (this.#types[this.#at] === type) this.#at += 1;
    const run = this.#at - first;
    if (type === T.MINUS && run === 1) {
      const next = this.#types[this.#at];
      if (next === T.INT || next === T.FLOAT) {
        this.#at = first;
        return this.#member();
      }
    }
    const operand = this.#member();
    if (run % 2 === 0) return operand;
    return this.builder.operator(this.#offset(first), type === T.NOT ? "!_" : "-_", [operand]);
  }

  #member(): Expr {
    let expr = this.#primary();
    for (;;) {
      const type = this.#types[this.#at];
      if (type === T.DOT) expr = this.#dot(expr);
      else if (type === T.LEFT_BRACKET) expr = this.#index(expr);
      else return expr;
    }
  }

  #dot(operand: Expr): Expr {
    const dot = this.#offset(this.#at);
    this.#at += 1;
    const optional = this.#optionalMark();
    const name = this.#at;
    const type = this.#types[name];
    const quoted = type === T.ESCAPED_IDENTIFIER && this.builder.options.quotedNames;
    if (type !== T.IDENTIFIER && !quoted) throw new GaveUp();
    this.#at += 1;
    const height = this.#height;
    if (!optional && type === T.IDENTIFIER && this.#types[this.#at] === T.LEFT_PAREN) {
      const paren = this.#offset(this.#at);
      this.#at += 1;
      const args = this.#arguments();
      this.#raise(Math.max(height, this.#height));
      return this.builder.call(paren, this.#text(name), operand, args, false);
    }
    this.#raise(height);
    const field = type === T.IDENTIFIER ? this.#text(name) : this.#text(name).slice(1, -1);
    if (!optional) return this.builder.select(dot, operand, field);
    return this.builder.optionalSelect(dot, operand, this.#offset(name), field);
  }

  #index(operand: Expr): Expr {
    const bracket = this.#offset(this.#at);
    this.#at += 1;
    const optional = this.#optionalMark();
    const height = this.#height;
    const index = this.#expression();
    this.#raise(Math.max(height, this.#height));
    this.#expect(T.RIGHT_BRACKET);
    return this.builder.operator(bracket, optional ? "_[?_]" : "_[_]", [operand, index]);
  }

  /** Arguments after `(`, through `)`. The height afterwards is that of the deepest. */
  #arguments(): Expr[] {
    const args: Expr[] = [];
    let height = 0;
    if (!this.#accept(T.RIGHT_PAREN)) {
      do {
        args.push(this.#expression());
        height = Math.max(height, this.#height);
      } while (this.#accept(T.COMMA));
      this.#expect(T.RIGHT_PAREN);
    }
    this.#height = height;
    return args;
  }

  #primary(): Expr {
    const { builder } = this;
    const token = this.#at;
    this.#at += 1;
    this.#height = 0;
    switch (this.#types[token]) {
      case T.IDENTIFIER:
        return this.#name(token, token);
      case T.DOT:
        return this.#name(token, this.#expect(T.IDENTIFIER));
      case T.LEFT_PAREN: {
        const expr = this.#expression();
        this.#expect(T.RIGHT_PAREN);
        return expr;
      }
      case T.LEFT_BRACKET:
        return this.#list(token);
      case T.LEFT_BRACE:
        return this.#map(token);
      case T.MINUS: {
        const number = this.#at;
        if (this.#types[number] !== T.INT && this.#types[number] !== T.FLOAT) throw new GaveUp();
        this.#at += 1;
        const value =
          this.#types[number] === T.INT ? intValue(this.#text(number), true) : doubleValue(this.#text(number), true);
        return builder.checkedLiteral(this.#offset(token), value);
      }
      case T.INT:
        return builder.checkedLiteral(this.#offset(token), intValue(this.#text(token), false));
      case T.UINT:
        return builder.checkedLiteral(this.#offset(token), uintValue(this.#text(token)));
      case T.FLOAT:
        return builder.checkedLiteral(this.#offset(token), doubleValue(this.#text(token), false));
      case T.STRING:
        return builder.string(this.#offset(token), this.#text(token));
      case T.BYTES:
        return builder.bytes(this.#offset(token), this.#text(token));
      case T.TRUE:
        return builder.literal(this.#offset(token), true);
      case T.FALSE:
        return builder.literal(this.#offset(token), false);
      case T.NULL:
        return builder.literal(this.#offset(token), null);
      default:
        throw new GaveUp();
    }
  }

  /** A variable, free call or message literal; `start` is its first token, `name` its first identifier. */
  #name(start: number, name: number): Expr {
    const types = this.#types;
    if (types[this.#at] === T.LEFT_PAREN) {
      const paren = this.#offset(this.#at);
      this.#at += 1;
      const text = this.#text(name);
      if (isReserved(text)) throw new GaveUp();
      return this.builder.call(paren, text, undefined, this.#arguments(), start !== name);
    }
    let end = this.#at;
    while (types[end] === T.DOT && types[end + 1] === T.IDENTIFIER) end += 2;
    if (types[end] === T.LEFT_BRACE) return this.#message(start, name, end);
    return this.builder.variable(this.#offset(start), this.#offset(name), this.#text(name));
  }

  #message(start: number, name: number, brace: number): Expr {
    let typeName = start === name ? "" : ".";
    for (let token = name; token < brace; token += 1) typeName += this.#text(token);
    this.#at = brace + 1;
    const id = this.builder.factory.id();
    const fields: FieldInit[] = [];
    this.#items(T.RIGHT_BRACE, () => {
      fields.push(this.#field());
    });
    return { kind: "struct", id, offset: this.#offset(brace), typeName, fields };
  }

  #field(): FieldInit {
    const optional = this.#optionalMark();
    const name = this.#at;
    const quoted = this.#types[name] === T.ESCAPED_IDENTIFIER;
    if (quoted ? !this.builder.options.quotedNames : this.#types[name] !== T.IDENTIFIER) throw new GaveUp();
    this.#at += 1;
    const offset = this.#offset(this.#expect(T.COLON));
    const id = this.builder.factory.id();
    const value = this.#expression();
    const field = quoted ? this.#text(name).slice(1, -1) : this.#text(name);
    return { id, offset, field, value, optional };
  }

  #list(bracket: number): Expr {
    const id = this.builder.factory.id();
    const elements: Expr[] = [];
    const optional: boolean[] = [];
    this.#items(T.RIGHT_BRACKET, () => {
      optional.push(this.#optionalMark());
      elements.push(this.#expression());
    });
    return { kind: "list", id, offset: this.#offset(bracket), elements, optional };
  }

  #map(brace: number): Expr {
    const id = this.builder.factory.id();
    const entries: MapEntry[] = [];
    this.#items(T.RIGHT_BRACE, () => {
      const optional = this.#optionalMark();
      const entryId = this.builder.factory.id();
      const key = this.#expression();
      const height = this.#height;
      const offset = this.#offset(this.#expect(T.COLON));
      const value = this.#expression();
      this.#height = Math.max(height, this.#height);
      entries.push({ id: entryId, offset, key, value, optional });
    });
    return { kind: "map", id, offset: this.#offset(brace), entries };
  }

  /** A `?` before an element, where the environment has them. */
  #optionalMark(): boolean {
    if (this.#types[this.#at] !== T.QUESTION) return false;
    if (!this.builder.options.optionalSyntax) throw new GaveUp();
    this.#at += 1;
    return true;
  }

  /** Comma-separated items through the closing token, with or without a comma at the end. The height afterwards is that of the deepest. */
  #items(close: number, item: () => void): void {
    let height = 0;
    let more = this.#types[this.#at] !== close && this.#types[this.#at] !== T.COMMA;
    while (more) {
      item();
      height = Math.max(height, this.#height);
      more = this.#types[this.#at] === T.COMMA && this.#types[this.#at + 1] !== close;
      if (more) this.#at += 1;
    }
    this.#accept(T.COMMA);
    this.#expect(close);
    this.#height = height;
  }
}
