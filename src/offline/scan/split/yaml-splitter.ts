/** Splits YAML into documents, and kubectl's lists into their items, while it is being read. */
import { LineReader } from "../../../data/line-reader.js";
import { ScanError } from "../scan-error.js";
import { type Batch, BatchBuilder } from "./batch.js";

const MINUS = 0x2d;
const HASH = 0x23;
const SPACE = 0x20;

/** A splitter of one file. */
export class YamlSplitter {
  readonly #file: string;
  readonly #batches: BatchBuilder;
  readonly #lines = new LineReader();
  /** The current list, with the indentation of its items. */
  #list: { indent: number | undefined } | undefined;
  /** The text of a list outside of its items. */
  #around: string | undefined;
  #empty = true;
  #lineNumber = 0;

  constructor(file: string) {
    this.#file = file;
    this.#batches = new BatchBuilder(file, "yaml");
  }

  /** @throws ScanError for an object with items that is not a list */
  push(chunk: Buffer): readonly Batch[] {
    // The chunk is valid until the next one is requested.
    for (const line of this.#lines.push(Buffer.from(chunk))) this.#line(line);
    return this.#batches.take();
  }

  /** @throws as {@link push} */
  finish(): readonly Batch[] {
    if (this.#lines.pending > 0) this.#line(this.#lines.take());
    this.#documentEnds();
    return this.#batches.finish();
  }

  #line(line: Buffer): void {
    this.#lineNumber++;
    if (isSeparator(line)) {
      this.#documentEnds();
      const behind = line.subarray(3);
      if (!isBlank(behind)) this.#add(behind);
    } else if (this.#list !== undefined) this.#listLine(line, this.#list);
    else if (isItems(line)) {
      this.#list = { indent: undefined };
      this.#around = this.#batches.current().length === 0 ? "" : Buffer.from(this.#batches.current()).toString("utf8");
      this.#batches.drop();
      this.#empty = true;
    } else this.#add(line);
  }

  #listLine(line: Buffer, list: { indent: number | undefined }): void {
    const indent = indentOf(line);
    if (indent === line.length || line[indent] === HASH) {
      if (list.indent !== undefined) this.#batches.append(line, this.#lineNumber);
      return;
    }
    if (line[indent] === MINUS && (list.indent ?? indent) === indent) {
      list.indent = indent;
      this.#textEnds();
      const item = Buffer.from(line);
      item[indent] = SPACE;
      this.#add(item);
    } else if (list.indent !== undefined && indent > list.indent) this.#add(line);
    else {
      this.#textEnds();
      this.#list = undefined;
      this.#around = `${this.#around ?? ""}${line.toString("utf8")}`;
    }
  }

  #add(line: Buffer): void {
    if (this.#around !== undefined && this.#list === undefined) {
      this.#around += line.toString("utf8");
      return;
    }
    this.#batches.append(line, this.#lineNumber);
    if (this.#empty) this.#empty = isBlank(line);
  }

  /** Ends a text; documents of only comments are dropped. */
  #textEnds(): void {
    if (this.#empty) this.#batches.drop();
    else this.#batches.end();
    this.#empty = true;
  }

  #documentEnds(): void {
    this.#textEnds();
    this.#list = undefined;
    if (this.#around !== undefined && !/^["']?kind["']?\s*:\s*["']?\w*List\b/m.test(this.#around)) {
      throw new ScanError(`${this.#file}: an object with items that is not a list`);
    }
    this.#around = undefined;
  }
}

/** `---`, alone or with text behind it. */
const isSeparator = (line: Buffer): boolean =>
  line[0] === MINUS && line[1] === MINUS && line[2] === MINUS && (line.length === 3 || (line[3] ?? 0) <= SPACE);

/** `items:`, alone in its line. */
const isItems = (line: Buffer): boolean => line[0] === 0x69 && /^items:\s*(?:#.*)?$/.test(line.toString("utf8"));

/** The number of spaces that the line begins with; its length when there is nothing else. */
function indentOf(line: Buffer): number {
  let indent = 0;
  while (line[indent] === SPACE) indent++;
  return (line[indent] ?? 0) < SPACE ? line.length : indent;
}

/** Whether a line has at most a comment. */
function isBlank(line: Buffer): boolean {
  let at = 0;
  while (at < line.length && (line[at] ?? 0) <= SPACE) at++;
  return at === line.length || line[at] === HASH;
}
