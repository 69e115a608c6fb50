/**
 * The grammar of spec kubernetes-cel.md 1.5, cut into the same rules as the reference's: its error messages show where one ends and where it
 * looks further than one token.
 */
import * as T from "../../lexer/token-type.js";
import {
  choice,
  type Decision,
  many,
  NotViable,
  named,
  optional,
  type Part,
  rule,
  some,
  suffix,
  suffixes,
  token,
} from "./notation.js";

// Decisions that take more than the next token. They are those of the reference's prediction, and stop at the same token.

/** Whether a comma continues a list: only before an item, since it may also be the list's end. */
const beforeItem =
  (item: string): Decision<boolean> =>
  ({ peek, first }) =>
    peek(1) === T.COMMA && first(item).has(peek(2));

/** One more minus before an operand; before a number it belongs to the run, not to the number. */
const oneMoreMinus: Decision<boolean> = ({ peek, first }) => {
  const minus = peek(1) === T.MINUS;
  const ahead = minus ? 2 : 1;
  return first("member").has(peek(ahead)) ? minus : new NotViable(ahead);
};

/** The alternatives of `unary` that begin with a minus: a lone one before a number belongs to the number. */
const signOrNumber: Decision<number | undefined> = ({ peek, first }) => {
  if (peek(1) !== T.MINUS) return undefined;
  const next = peek(2);
  if (next === T.INT || next === T.FLOAT) return 0;
  return first("member").has(next) ? 2 : new NotViable(2);
};

/** The alternatives of `literal` that have a sign. */
const signedNumber: Decision<number | undefined> = ({ peek }) => {
  if (peek(1) !== T.MINUS) return undefined;
  if (peek(2) === T.INT) return 0;
  return peek(2) === T.FLOAT ? 2 : new NotViable(2);
};

/** The alternatives of `primary` that begin with a name: a variable unless a parenthesis, or a brace after more names, says otherwise. */
const nameOrCallOrMessage: Decision<number | undefined> = ({ peek }) => {
  if (peek(1) !== T.DOT && peek(1) !== T.IDENTIFIER) return undefined;
  let ahead = peek(1) === T.DOT ? 2 : 1;
  if (peek(ahead) !== T.IDENTIFIER) return new NotViable(ahead);
  ahead += 1;
  if (peek(ahead) === T.LEFT_PAREN) return 1;
  while (peek(ahead) === T.DOT && peek(ahead + 1) === T.IDENTIFIER) ahead += 2;
  return peek(ahead) === T.LEFT_BRACE ? 5 : 0;
};

/** The suffixes of `member` that begin with a dot. */
const fieldOrMethod: Decision<number | undefined> = ({ peek }) => {
  if (peek(1) !== T.DOT) return undefined;
  const next = peek(2);
  if (next === T.QUESTION || next === T.ESCAPED_IDENTIFIER) return 0;
  if (next !== T.IDENTIFIER) return new NotViable(2);
  return peek(3) === T.LEFT_PAREN ? 1 : 0;
};

/** Parts that several rules share, made anew for each place: recovery distinguishes places by their parts. */
const comma = () => token("", T.COMMA);
const leadingDot = () => optional(token("leadingDot", T.DOT));
const optionalMark = () => optional(token("opt", T.QUESTION));
const trailingComma = () => optional(comma());
const callArguments = () => [optional(rule("args", "exprList")), token("", T.RIGHT_PAREN)] as const;
const keyValue = () => [token("cols", T.COLON), rule("values", "expr")] as const;
const relations = [T.LESS, T.LESS_EQUALS, T.GREATER_EQUALS, T.GREATER, T.EQUALS, T.NOT_EQUALS, T.IN] as const;

/** The rules by name. */
export const GRAMMAR: ReadonlyMap<string, readonly Part[]> = new Map<string, readonly Part[]>([
  ["start", [rule("e", "expr"), token("", T.EOF)]],
  [
    "expr",
    [
      rule("e", "conditionalOr"),
      optional(token("op", T.QUESTION), rule("e1", "conditionalOr"), token("", T.COLON), rule("e2", "expr")),
    ],
  ],
  ["conditionalOr", [rule("e", "conditionalAnd"), many([token("ops", T.OR), rule("e1", "conditionalAnd")])]],
  ["conditionalAnd", [rule("e", "relation"), many([token("ops", T.AND), rule("e1", "relation")])]],
  [
    "relation",
    [rule("e", "calc"), suffixes([suffix("relation", 1, token("op", ...relations), rule("right", "relation", 2))])],
  ],
  [
    "calc",
    [
      rule("e", "unary"),
      suffixes([
        suffix("calc", 2, token("op", T.STAR, T.SLASH, T.PERCENT), rule("right", "calc", 3)),
        suffix("calc", 1, token("op", T.MINUS, T.PLUS), rule("right", "calc", 2)),
      ]),
    ],
  ],
  [
    "unary",
    [
      choice(
        [
          named("memberExpr", rule("e", "member")),
          named("not", some([token("ops", T.NOT)]), rule("e", "member")),
          named("negate", some([token("ops", T.MINUS)], oneMoreMinus), rule("e", "member")),
        ],
        signOrNumber,
      ),
    ],
  ],
  [
    "member",
    [
      rule("e", "primary"),
      suffixes(
        [
          named("select", token("op", T.DOT), optionalMark(), rule("id", "escapeIdent")),
          named(
            "memberCall",
            token("op", T.DOT),
            token("id", T.IDENTIFIER),
            token("open", T.LEFT_PAREN),
            ...callArguments(),
          ),
          named(
            "index",
            token("op", T.LEFT_BRACKET),
            optionalMark(),
            rule("index", "expr"),
            token("", T.RIGHT_BRACKET),
          ),
        ],
        fieldOrMethod,
      ),
    ],
  ],
  [
    "primary",
    [
      choice(
        [
          named("ident", leadingDot(), token("id", T.IDENTIFIER)),
          named("globalCall", leadingDot(), token("id", T.IDENTIFIER), token("op", T.LEFT_PAREN), ...callArguments()),
          named("nested", token("", T.LEFT_PAREN), rule("e", "expr"), token("", T.RIGHT_PAREN)),
          named(
            "list",
            token("op", T.LEFT_BRACKET),
            optional(rule("elems", "listInit")),
            trailingComma(),
            token("", T.RIGHT_BRACKET),
          ),
          named(
            "map",
            token("op", T.LEFT_BRACE),
            optional(rule("entries", "mapInitializerList")),
            trailingComma(),
            token("", T.RIGHT_BRACE),
          ),
          named(
            "message",
            leadingDot(),
            token("ids", T.IDENTIFIER),
            many([token("ops", T.DOT), token("ids", T.IDENTIFIER)]),
            token("op", T.LEFT_BRACE),
            optional(rule("entries", "fieldInitializerList")),
            trailingComma(),
            token("", T.RIGHT_BRACE),
          ),
          named("literal", rule("e", "literal")),
        ],
        nameOrCallOrMessage,
      ),
    ],
  ],
  ["exprList", [rule("e", "expr"), many([comma(), rule("e", "expr")])]],
  ["listInit", [rule("elems", "optExpr"), many([comma(), rule("elems", "optExpr")], beforeItem("optExpr"))]],
  [
    "fieldInitializerList",
    [
      rule("keys", "optField"),
      ...keyValue(),
      many([comma(), rule("keys", "optField"), ...keyValue()], beforeItem("optField")),
    ],
  ],
  ["optField", [optionalMark(), rule("id", "escapeIdent")]],
  [
    "mapInitializerList",
    [
      rule("keys", "optExpr"),
      ...keyValue(),
      many([comma(), rule("keys", "optExpr"), ...keyValue()], beforeItem("optExpr")),
    ],
  ],
  [
    "escapeIdent",
    [choice([named("simple", token("id", T.IDENTIFIER)), named("escaped", token("id", T.ESCAPED_IDENTIFIER))])],
  ],
  ["optExpr", [optionalMark(), rule("e", "expr")]],
  [
    "literal",
    [
      choice(
        [
          named("int", optional(token("sign", T.MINUS)), token("tok", T.INT)),
          named("uint", token("tok", T.UINT)),
          named("double", optional(token("sign", T.MINUS)), token("tok", T.FLOAT)),
          named("string", token("tok", T.STRING)),
          named("bytes", token("tok", T.BYTES)),
          named("true", token("tok", T.TRUE)),
          named("false", token("tok", T.FALSE)),
          named("null", token("tok", T.NULL)),
        ],
        signedNumber,
      ),
    ],
  ],
]);
