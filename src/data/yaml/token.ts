/** How a scalar is written. */
export type ScalarStyle = "plain" | "single" | "double" | "literal" | "folded";

/** What a token is. Blocks have tokens for where they begin and end, which no character stands for. */
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
  /** What follows a tag's handle; what a handle of a directive stands for. */
  readonly suffix: string;
  readonly style: ScalarStyle;
}

/** A token. All have the same shape, for there are many. */
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
