/** The style of a scalar. */
export type ScalarStyle = "plain" | "single" | "double" | "literal" | "folded";

/** The kind of a token. Blocks have tokens for their beginning and end, for which no character stands. */
export type TokenKind =
  | "end"
  | "version"
  | "tag-directive"
  | "document-start"
  | "document-end"
  | "block-sequence"
  | "block-mapping"
  | "block-end"
  | "["
  | "]"
  | "{"
  | "}"
  | "-"
  | ","
  | "key"
  | "value"
  | "alias"
  | "anchor"
  | "tag"
  | "scalar";

/** One token. */
export interface Token {
  readonly kind: TokenKind;
  /** UTF-16 offsets. */
  readonly start: number;
  readonly end: number;
  /** A scalar's text, the name of an alias or anchor, the handle of a tag, a version. */
  readonly text: string;
  /** The text behind a tag's handle; the prefix of a handle in a directive. */
  readonly suffix: string;
  readonly style: ScalarStyle;
}

/** Makes a token. All have the same shape, since there are many. */
export function token(
  kind: TokenKind,
  start: number,
  end: number,
  text = "",
  suffix = "",
  style: ScalarStyle = "plain",
): Token {
  return { kind, start, end, text, suffix, style };
}
