/**
 * A group's expression as a tree of `&&`, `||`, `!`, conditionals and calls of members, each with its place: for drawing. The engine's tree has one
 * place for each part, not its beginning and end, and no parentheses; so the tokens are cut here, by the same grammar (a test compares both).
 */
import type { GroupNode } from "./api.js";

/** Longest expression that is cut; a longer one is one leaf. Expressions of groups have some dozen members. */
const MAX_LENGTH = 10_000;
/** Deepest nesting that is cut. */
const MAX_DEPTH = 64;

interface Token {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  /** For an opening bracket: the index of the closing one. */
  close?: number;
}

/** Blanks and comments, texts, names, relevant operators as one token, all else by characters. */
const TOKEN =
  /\s+|\/\/[^\n]*|(?:[bB]?[rR]|[rR][bB])(?:"""[\s\S]*?"""|'''[\s\S]*?'''|"[^"\n]*"|'[^'\n]*')|[bB]?(?:"""(?:\\[\s\S]|[^\\])*?"""|'''(?:\\[\s\S]|[^\\])*?'''|"(?:\\[\s\S]|[^"\\\n])*"|'(?:\\[\s\S]|[^'\\\n])*')|[A-Za-z_]\w*|&&|\|\||[!=<>]=|\.\?|[\s\S]/g;
/** Operators that are weaker than `!`: a part with one of these is not a negation. */
const BINARY = new Set(["==", "!=", "<", "<=", ">", ">=", "in", "+", "-", "*", "/", "%"]);
const CLOSING: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

/** The tree; a single leaf for an invalid expression. */
export function expressionTree(expression: string, members: Iterable<string>): GroupNode {
  const leaf: GroupNode = { kind: "cel", from: 0, to: expression.length, parts: [] };
  if (expression.length > MAX_LENGTH) return leaf;
  const tokens = tokensOf(expression);
  if (tokens === undefined || tokens.length === 0) return leaf;
  return new Cutter(tokens, new Set(members)).cut(0, tokens.length, 0);
}

/** The tokens; undefined when brackets do not match. */
function tokensOf(expression: string): readonly Token[] | undefined {
  const tokens: Token[] = [];
  const open: number[] = [];
  for (const { 0: text, index: from } of expression.matchAll(TOKEN)) {
    if (/^(?:\s|\/\/)/.test(text)) continue;
    if (text in CLOSING) open.push(tokens.length);
    if (text === ")" || text === "]" || text === "}") {
      const opening = tokens[open.pop() ?? -1];
      if (opening === undefined || CLOSING[opening.text] !== text) return undefined;
      opening.close = tokens.length;
    }
    tokens.push({ text, from, to: from + text.length });
  }
  return open.length === 0 ? tokens : undefined;
}

class Cutter {
  readonly #tokens: readonly Token[];
  readonly #members: ReadonlySet<string>;

  constructor(tokens: readonly Token[], members: ReadonlySet<string>) {
    this.#tokens = tokens;
    this.#members = members;
  }

  /** The tree of the tokens from `start` up to `end`. */
  cut(start: number, end: number, depth: number): GroupNode {
    const first = this.#tokens[start];
    if (first === undefined || start >= end || depth > MAX_DEPTH) return this.#node("cel", start, end);
    const parts = (pieces: readonly (readonly [number, number])[]): GroupNode[] =>
      pieces.map(([from, to]) => this.cut(from, to, depth + 1));
    const condition = this.#conditional(start, end);
    if (condition !== undefined) return this.#node("if", start, end, parts(condition));
    const either = this.#split("||", start, end);
    if (either.length > 1) return this.#node("or", start, end, parts(either));
    const both = this.#split("&&", start, end);
    if (both.length > 1) return this.#node("and", start, end, parts(both));
    const isBinary = [...this.#top(start + 1, end)].some((at) => BINARY.has(this.#tokens[at]!.text));
    if (first.text === "!" && !isBinary) return this.#node("not", start, end, parts([[start + 1, end]]));
    if (first.text === "(" && first.close === end - 1) return this.cut(start + 1, end - 1, depth + 1);
    const call = this.#tokens[start + 1];
    if (this.#members.has(first.text) && call?.text === "(" && call.close === end - 1)
      return { ...this.#node("member", start, end), name: first.text };
    return this.#node("cel", start, end);
  }

  /** Condition, then, else; undefined for a part that is not a conditional. */
  #conditional(start: number, end: number): readonly (readonly [number, number])[] | undefined {
    let question: number | undefined;
    for (const at of this.#top(start, end)) {
      const { text } = this.#tokens[at]!;
      if (text === "?") question ??= at;
      if (text === ":" && question !== undefined)
        return [
          [start, question],
          [question + 1, at],
          [at + 1, end],
        ];
    }
    return undefined;
  }

  #split(operator: string, start: number, end: number): readonly (readonly [number, number])[] {
    const pieces: [number, number][] = [];
    let from = start;
    for (const at of this.#top(start, end)) {
      if (this.#tokens[at]!.text !== operator) continue;
      pieces.push([from, at]);
      from = at + 1;
    }
    return [...pieces, [from, end]];
  }

  /** The indexes of tokens outside of brackets. */
  *#top(start: number, end: number): Generator<number> {
    for (let at = start; at < end; at = (this.#tokens[at]!.close ?? at) + 1) yield at;
  }

  #node(kind: GroupNode["kind"], start: number, end: number, parts: readonly GroupNode[] = []): GroupNode {
    const from = this.#tokens[start]?.from ?? 0;
    const last = this.#tokens[end - 1];
    return { kind, from, to: last === undefined || start >= end ? from : last.to, parts };
  }
}
