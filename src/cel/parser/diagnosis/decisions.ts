/** Decisions that take more than the next token. They fall as the reference's prediction has them, and break off at the same token. */
import * as T from "../../lexer/token-type.js";
import { type Decision, NotViable } from "./notation.js";

/** A comma goes on with a list only before an item: it may also be its end. */
export const beforeItem =
  (item: string): Decision<boolean> =>
  ({ peek, first }) =>
    peek(1) === T.COMMA && first(item).has(peek(2));

/** One more minus before an operand; before a number it belongs to the run, not to the number. */
export const oneMoreMinus: Decision<boolean> = ({ peek, first }) => {
  const minus = peek(1) === T.MINUS;
  const ahead = minus ? 2 : 1;
  return first("member").has(peek(ahead)) ? minus : new NotViable(ahead);
};

/** The alternatives of `unary` that begin with a minus: a lone one before a number belongs to the number. */
export const signOrNumber: Decision<number | undefined> = ({ peek, first }) => {
  if (peek(1) !== T.MINUS) return undefined;
  const next = peek(2);
  if (next === T.INT || next === T.FLOAT) return 0;
  return first("member").has(next) ? 2 : new NotViable(2);
};

/** The alternatives of `literal` that have a sign. */
export const signedNumber: Decision<number | undefined> = ({ peek }) => {
  if (peek(1) !== T.MINUS) return undefined;
  if (peek(2) === T.INT) return 0;
  return peek(2) === T.FLOAT ? 2 : new NotViable(2);
};

/** The alternatives of `primary` that begin with a name: a variable unless a parenthesis, or a brace after more names, says otherwise. */
export const nameOrCallOrMessage: Decision<number | undefined> = ({ peek }) => {
  if (peek(1) !== T.DOT && peek(1) !== T.IDENTIFIER) return undefined;
  let ahead = peek(1) === T.DOT ? 2 : 1;
  if (peek(ahead) !== T.IDENTIFIER) return new NotViable(ahead);
  ahead += 1;
  if (peek(ahead) === T.LEFT_PAREN) return 1;
  while (peek(ahead) === T.DOT && peek(ahead + 1) === T.IDENTIFIER) ahead += 2;
  return peek(ahead) === T.LEFT_BRACE ? 5 : 0;
};

/** The suffixes of `member` that begin with a dot. */
export const fieldOrMethod: Decision<number | undefined> = ({ peek }) => {
  if (peek(1) !== T.DOT) return undefined;
  const next = peek(2);
  if (next === T.QUESTION || next === T.ESCAPED_IDENTIFIER) return 0;
  if (next !== T.IDENTIFIER) return new NotViable(2);
  return peek(3) === T.LEFT_PAREN ? 1 : 0;
};
