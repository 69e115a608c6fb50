/** The tokens as the recovering parser reads them. */
import type { Tokens } from "../../lexer/lexer.js";
import { EOF } from "../../lexer/token-type.js";
import type { Source } from "../../source.js";
import type { TreeToken } from "./syntax-tree.js";

/** Where an empty text ends, in the reference's count. */
const BEFORE_START = -1;

/** A cursor over tokens, which reports text that is not a token as soon as the token after it is read. */
export class TokenStream {
  /** The index of the next token. */
  index = 0;
  #reported = 0;

  constructor(
    readonly source: Source,
    readonly tokens: Tokens,
    readonly report: (offset: number, message: string) => void,
  ) {}

  /** The type of the `ahead`-th token from here, from 1 on; beyond the end it is that of the end. */
  peek(ahead = 1): number {
    const index = this.index + ahead - 1;
    this.#reportUpTo(index);
    return this.tokens.types[index] ?? EOF;
  }

  /** Moves on; stays at the end. */
  consume(): void {
    if (this.peek() !== EOF) this.index += 1;
  }

  /** The token at an index. */
  at(index: number): TreeToken {
    const { types, starts } = this.tokens;
    const start = starts[index]!;
    const isEnd = types[index] === EOF;
    return {
      type: types[index]!,
      text: isEnd ? "<EOF>" : this.source.text.slice(start, this.tokens.ends[index]),
      offset: isEnd && this.source.length === 0 ? BEFORE_START : this.source.offsetOf(start),
    };
  }

  /** The next token. */
  get current(): TreeToken {
    this.#reportUpTo(this.index);
    return this.at(this.index);
  }

  /** The text from one token through another, as written, without text that is not a token. The reference then reads the text to its end. */
  text(first: number, last: number): string {
    this.#reportUpTo(this.tokens.types.length);
    const end = this.tokens.types[last] === EOF ? this.source.text.length : this.tokens.ends[last]!;
    let text = "";
    let at = this.tokens.starts[first]!;
    for (const error of this.tokens.errors) {
      if (error.start < at || error.start >= end) continue;
      text += this.source.text.slice(at, error.start);
      at = error.end;
    }
    return text + this.source.text.slice(at, end);
  }

  #reportUpTo(index: number): void {
    const { errors } = this.tokens;
    while (this.#reported < errors.length && errors[this.#reported]!.tokensBefore <= index) {
      const { start, end } = errors[this.#reported]!;
      this.#reported += 1;
      this.report(this.source.offsetOf(start), `token recognition error at: '${this.source.text.slice(start, end)}'`);
    }
  }
}
