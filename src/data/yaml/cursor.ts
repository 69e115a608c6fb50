import { CR, END, endsLine, isBlank, isBreak, isGap, LF } from "./characters.js";
import { type YamlError, yamlErrorAt } from "./yaml-error.js";

/** A place in a part of a text, which readers of tokens advance. */
export class Cursor {
  /** UTF-16 offset in the text. */
  at: number;
  /** The beginning of the line that {@link at} is in. */
  lineStart: number;

  /**
   * @param text of well-formed UTF-16
   * @param from the beginning of the part
   * @param end its end; the text after it is not read
   * @param forbidden whether a character stands at `end` that no document may contain
   */
  constructor(
    readonly text: string,
    from: number,
    readonly end: number,
    readonly forbidden: boolean,
  ) {
    this.at = from;
    this.lineStart = from;
  }

  /** The code unit at an offset, {@link END} behind the last one. */
  code(at: number): number {
    return at < this.end ? this.text.charCodeAt(at) : END;
  }

  get column(): number {
    return this.at - this.lineStart;
  }

  /** Skips blanks in this line. */
  skipBlanks(): void {
    while (isBlank(this.code(this.at))) this.at++;
  }

  /** Skips to the end of the line. */
  skipLine(): void {
    while (!endsLine(this.code(this.at))) this.at++;
  }

  /**
   * Skips the line break at the cursor.
   * @returns its form in a scalar: a line feed, or the separator itself
   */
  skipBreak(): string {
    const c = this.code(this.at);
    // Lines are cut at LF before YAML is read, together with one CR before it: CR CR LF becomes one break of YAML.
    if (c === CR) {
      if (this.code(this.at + 1) === LF) this.at++;
      else if (this.code(this.at + 1) === CR && this.code(this.at + 2) === LF) this.at += 2;
    }
    this.at++;
    this.lineStart = this.at;
    return c === 0x2028 || c === 0x2029 ? String.fromCharCode(c) : "\n";
  }

  /** Whether a line break stands here. */
  atBreak(): boolean {
    return isBreak(this.code(this.at));
  }

  /** Whether `---` or `...` stands here, in the first column and by itself: the beginning or end of a document. */
  atDocumentMark(): boolean {
    if (this.at !== this.lineStart) return false;
    const c = this.code(this.at);
    return (
      (c === 0x2d || c === 0x2e) &&
      this.code(this.at + 1) === c &&
      this.code(this.at + 2) === c &&
      isGap(this.code(this.at + 3))
    );
  }

  /** An error at the cursor or at an offset. */
  error(reason: string, at: number = this.at): YamlError {
    return this.forbidden && this.at >= this.end ? this.errorOfForbidden() : yamlErrorAt(this.text, at, reason);
  }

  /** The error of the character at the end. */
  errorOfForbidden(): YamlError {
    if (this.text[this.end] === "\ufffe") return yamlErrorAt(this.text, this.end, "what stands here is not UTF-8");
    const code = this.text.charCodeAt(this.end).toString(16).padStart(4, "0");
    return yamlErrorAt(this.text, this.end, `the control character U+${code.toUpperCase()} is not allowed`);
  }
}
