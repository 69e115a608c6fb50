import { HELM_TEMPLATE, yamlHint } from "./hints.js";

/** The error of a text that is not usable YAML. */
export class YamlError extends Error {
  readonly code = "YAML_SYNTAX";
  override readonly name = "YamlError";

  /**
   * @param reason the error, without the place
   * @param line 1-based
   * @param column 1-based, in code points
   * @param limit whether the text may be valid, but nests deeper, has more values or larger numbers than are read here
   */
  constructor(
    readonly reason: string,
    readonly line: number,
    readonly column: number,
    readonly limit: boolean = false,
    /** A proposed correction, where the line shows a common mistake. */
    readonly hint: string | undefined = undefined,
  ) {
    super(`${reason} at line ${line} column ${column}${hint === undefined ? "" : ` (${hint})`}`);
  }
}

/** An error at a UTF-16 offset of a text. */
export function yamlErrorAt(text: string, offset: number, reason: string, limit = false): YamlError {
  const { line, column } = placeOf(text, offset);
  const hint = yamlHint(text, line);
  // The rules of YAML say nothing of use about a template.
  if (hint === HELM_TEMPLATE) return new YamlError(hint, line, column, limit);
  return new YamlError(reason, line, column, limit, hint);
}

/** A mark at the beginning of a text that editors do not show. */
export const BYTE_ORDER_MARK = "\ufeff";

/** 1-based line and column (code points) of a UTF-16 offset. Lines end as in editors: at LF, CR LF or a single CR; a byte order mark is in no column. */
export function placeOf(text: string, offset: number): { readonly line: number; readonly column: number } {
  let line = 1;
  let start = text.startsWith(BYTE_ORDER_MARK) ? 1 : 0;
  for (let i = 0; i < offset; i++) {
    const c = text.charCodeAt(i);
    if (c !== 0x0a && (c !== 0x0d || text.charCodeAt(i + 1) === 0x0a)) continue;
    line++;
    start = i + 1;
  }
  let column = 1;
  for (let i = start; i < offset; i++) if ((text.charCodeAt(i) & 0xfc00) !== 0xdc00) column++;
  return { line, column };
}
