/** The error of a text that is not JSON. The message has the words of common parsers, with its place: `expected value at line 1 column 5`. */
export class JsonError extends Error {
  readonly code = "JSON_SYNTAX";
  override readonly name = "JsonError";

  /**
   * @param reason the error, without the place
   * @param line 1-based
   * @param column 1-based, in characters of the line
   * @param path keys and indexes from the root to the value being read
   */
  constructor(
    readonly reason: string,
    readonly line: number,
    readonly column: number,
    readonly path: readonly (string | number)[] = [],
  ) {
    super(`${reason} at line ${line} column ${column}`);
  }
}
