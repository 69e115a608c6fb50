/** Prints an expression back as text that parses to the same tree: for explaining and for tools. */

import { SHORT_ESCAPES } from "../../data/go/quoted-text.js";
import type { CallExpr, Expr, FieldInit, MacroCalls, MapEntry } from "../ast.js";
import { Uint } from "../values/uint.js";
import type { Value } from "../values/value.js";

/** A literal that reads back as this value: null, bool, int, uint, double, string or bytes. Other constants, which folding makes, get a readable text. */
export function literalText(value: Value): string {
  switch (typeof value) {
    case "string":
      return `"${[...value].map(escaped).join("")}"`;
    case "boolean":
    case "bigint":
      return `${value}`;
    case "number":
      return Number.isSafeInteger(value) ? `${value}` : doubleText(value);
    default:
      if (value === null) return "null";
      if (value instanceof Uint) return `${value.value}u`;
      if (value instanceof Number) return doubleText(value.valueOf());
      return value instanceof Uint8Array ? `b"${Array.from(value, byteText).join("")}"` : String(value);
  }
}

/** The text of a double, which always shows its type. */
function doubleText(value: number): string {
  if (!Number.isFinite(value)) return `double("${value}")`;
  const text = Object.is(value, -0) ? "-0" : `${value}`;
  return /[.e]/.test(text) ? text : `${text}.0`;
}

function escaped(character: string): string {
  const code = character.codePointAt(0)!;
  const known = SHORT_ESCAPES.get(character);
  if (known !== undefined) return known;
  return code < 0x20 || code === 0x7f ? `\\x${code.toString(16).padStart(2, "0")}` : character;
}

function byteText(byte: number): string {
  const character = String.fromCharCode(byte);
  if (byte >= 0x20 && byte < 0x7f) return SHORT_ESCAPES.get(character) ?? character;
  return `\\x${byte.toString(16).padStart(2, "0")}`;
}

/** Binding strengths; a part that binds less tightly than its place demands is put in parentheses. */
const TERNARY = 1;
const OR = 2;
const AND = 3;
const RELATION = 4;
const SUM = 5;
const PRODUCT = 6;
const UNARY = 7;
const POSTFIX = 8;

const BINARY: ReadonlyMap<string, { readonly symbol: string; readonly binding: number }> = new Map([
  ["_||_", { symbol: "||", binding: OR }],
  ["_&&_", { symbol: "&&", binding: AND }],
  ...["<", "<=", ">", ">=", "==", "!="].map((symbol) => [`_${symbol}_`, { symbol, binding: RELATION }] as const),
  ["@in", { symbol: "in", binding: RELATION }],
  ["_+_", { symbol: "+", binding: SUM }],
  ["_-_", { symbol: "-", binding: SUM }],
  ["_*_", { symbol: "*", binding: PRODUCT }],
  ["_/_", { symbol: "/", binding: PRODUCT }],
  ["_%_", { symbol: "%", binding: PRODUCT }],
]);

const PREFIX: ReadonlyMap<string, string> = new Map([
  ["!_", "!"],
  ["-_", "-"],
]);

const NO_MACROS: MacroCalls = new Map();

/** The text of an expression. Macros are printed as they were written if `macroCalls` has them, else as the comprehensions they expand to. */
export function unparse(expr: Expr, macroCalls: MacroCalls = NO_MACROS): string {
  return new Unparser(macroCalls).text(expr, TERNARY);
}

class Unparser {
  constructor(readonly macroCalls: MacroCalls) {}

  /** The text of an expression in a place that demands this binding. */
  text(expr: Expr, demanded: number): string {
    const { text, binding } = this.#print(expr);
    return binding < demanded ? `(${text})` : text;
  }

  #print(expr: Expr): { readonly text: string; readonly binding: number } {
    const macro = this.macroCalls.get(expr.id);
    if (macro !== undefined) return { text: this.#callText(macro), binding: POSTFIX };
    switch (expr.kind) {
      case "literal": {
        const text = literalText(expr.value);
        return { text, binding: text.startsWith("-") ? UNARY : POSTFIX };
      }
      case "ident":
        return { text: expr.rooted ? `.${expr.name}` : expr.name, binding: POSTFIX };
      case "select": {
        const text = `${this.text(expr.operand, POSTFIX)}.${fieldText(expr.field)}`;
        return { text: expr.testOnly ? `has(${text})` : text, binding: POSTFIX };
      }
      case "call":
        return this.#call(expr);
      case "list": {
        const elements = expr.elements.map((element, index) => mark(expr.optional[index]) + this.#top(element));
        return { text: `[${elements.join(", ")}]`, binding: POSTFIX };
      }
      case "map":
        return { text: `{${expr.entries.map((entry) => this.#entry(entry)).join(", ")}}`, binding: POSTFIX };
      case "struct": {
        const fields = expr.fields.map((field) => this.#field(field));
        return { text: `${expr.typeName}{${fields.join(", ")}}`, binding: POSTFIX };
      }
      case "comprehension": {
        const variables = expr.iterVar2 === undefined ? expr.iterVar : `${expr.iterVar}, ${expr.iterVar2}`;
        const { range, accuInit, loopCondition, loopStep, result } = expr;
        const parts = [range, accuInit, loopCondition, loopStep, result].map((part) => this.#top(part));
        return { text: `@loop(${variables}, ${expr.accuVar}, ${parts.join(", ")})`, binding: POSTFIX };
      }
    }
  }

  #top(expr: Expr): string {
    return this.text(expr, TERNARY);
  }

  #call(expr: CallExpr): { readonly text: string; readonly binding: number } {
    const { function: name, args } = expr;
    const [first, second, third] = args;
    const binary = BINARY.get(name);
    if (binary !== undefined && second !== undefined) {
      const { symbol, binding } = binary;
      // A chain of one logical operator means the same however it is bracketed.
      const right = binding === OR || binding === AND ? binding : binding + 1;
      return { text: `${this.text(first!, binding)} ${symbol} ${this.text(second, right)}`, binding };
    }
    const prefix = PREFIX.get(name);
    if (prefix !== undefined) {
      // A sign directly before a number would become part of it.
      const isNumber = name === "-_" && first!.kind === "literal";
      const operand = isNumber ? `(${this.#top(first!)})` : this.text(first!, POSTFIX);
      return { text: prefix + operand, binding: UNARY };
    }
    switch (name) {
      case "_?_:_": {
        const [condition, whenTrue] = [this.text(first!, OR), this.text(second!, OR)];
        return { text: `${condition} ? ${whenTrue} : ${this.text(third!, TERNARY)}`, binding: TERNARY };
      }
      case "_[_]":
        return { text: `${this.text(first!, POSTFIX)}[${this.#top(second!)}]`, binding: POSTFIX };
      case "_[?_]":
        return { text: `${this.text(first!, POSTFIX)}[?${this.#top(second!)}]`, binding: POSTFIX };
      case "_?._": {
        const field = second!.kind === "literal" && typeof second!.value === "string" ? second!.value : "";
        return { text: `${this.text(first!, POSTFIX)}.?${fieldText(field)}`, binding: POSTFIX };
      }
      default:
        return { text: this.#callText(expr), binding: POSTFIX };
    }
  }

  #callText({ function: name, target, args, rooted }: CallExpr): string {
    const list = `${name}(${args.map((arg) => this.#top(arg)).join(", ")})`;
    if (target !== undefined) return `${this.text(target, POSTFIX)}.${list}`;
    return rooted ? `.${list}` : list;
  }

  #entry({ key, value, optional }: MapEntry): string {
    return `${mark(optional)}${this.#top(key)}: ${this.#top(value)}`;
  }

  #field({ field, value, optional }: FieldInit): string {
    return `${mark(optional)}${fieldText(field)}: ${this.#top(value)}`;
  }
}

const mark = (optional: boolean | undefined): string => (optional === true ? "?" : "");

const KEYWORDS: ReadonlySet<string> = new Set(["true", "false", "null", "in"]);

/** A field's name, in backquotes where it is not an identifier. */
function fieldText(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) && !KEYWORDS.has(name) ? name : `\`${name}\``;
}
