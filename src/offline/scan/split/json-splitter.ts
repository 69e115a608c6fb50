/**
 * Splits JSON into resources while it is being read: objects one after the other (JSON lines, or with `---` between them), and the items of lists of
 * any length. Only brackets and strings are recognised: parsing shows whether a text is JSON.
 */
import { parseJson } from "../../../data/json.js";
import { HELM_TEMPLATE } from "../../../data/yaml.js";
import { ScanError } from "../scan-error.js";
import { type Batch, BatchBuilder } from "./batch.js";

const NEWLINE = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const MINUS = 0x2d;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_MAP = 0x7b;
const CLOSE_MAP = 0x7d;
const SPACE = 0x20;

const NO_LIST = -1;
const LIST_SUFFIX = "List";

/** A splitter of one file. */
export class JsonSplitter {
  readonly #file: string;
  readonly #batches: BatchBuilder;
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** Whether a text is being collected. */
  #inText = false;
  /** The depth inside of the list whose items are separate texts. */
  #listDepth = NO_LIST;
  /** Whether the object around it was found to be a list. */
  #wasList = false;
  /** A string right inside of the outermost object, as far as it was read. */
  #member: string | undefined;
  #key = "";
  #afterColon = false;
  #kind: string | undefined;
  #apiVersion = "";
  #line = 1;
  /** The line of the text that is being collected. */
  #textLine = 1;

  constructor(file: string) {
    this.#file = file;
    this.#batches = new BatchBuilder(file, "json");
  }

  /** @throws ScanError for text that can't be a resource */
  push(chunk: Buffer): readonly Batch[] {
    // Begin of the text, or of the member's name or value, in this chunk.
    let textFrom = this.#inText ? 0 : -1;
    let memberFrom = 0;
    let depth = this.#depth;
    const { length } = chunk;
    for (let i = 0; i < length; i++) {
      if (this.#inString) {
        i = this.#stringEnd(chunk, i);
        if (i === length) break;
        if (this.#member !== undefined) this.#memberEnds(this.#member + chunk.toString("utf8", memberFrom, i));
        continue;
      }
      const c = chunk[i] ?? 0;
      if (c <= SPACE) {
        if (c === NEWLINE) this.#line++;
        continue;
      }
      switch (c) {
        case QUOTE:
          this.#inString = true;
          if (depth === 0 || depth === this.#listDepth) throw this.#misplaced("a string");
          if (depth === 1) {
            this.#member = "";
            memberFrom = i + 1;
          }
          break;
        case OPEN_MAP:
          if (depth === this.#listDepth || depth === 0) {
            this.#inText = true;
            textFrom = i;
            this.#textLine = this.#line;
            if (depth === 0) this.#begins();
          } else if (depth === 1 && chunk[i - 1] === OPEN_MAP && this.#key === "")
            throw new ScanError(`${this.#file}:${this.#line}: ${HELM_TEMPLATE}`);
          depth++;
          break;
        case OPEN_LIST:
          if (depth === 0 || (depth === 1 && this.#isItems())) {
            this.#listBegins(depth);
            textFrom = -1;
          } else if (depth === this.#listDepth) throw this.#misplaced("a list");
          depth++;
          break;
        case CLOSE_LIST:
          if (depth === this.#listDepth) {
            this.#listDepth = NO_LIST;
            this.#batches.of(undefined);
          }
          depth--;
          break;
        case CLOSE_MAP:
          depth--;
          if (this.#inText && (depth === 0 || depth === this.#listDepth)) {
            this.#batches.append(chunk.subarray(textFrom, i + 1), this.#textLine);
            this.#batches.end();
            this.#inText = false;
            textFrom = -1;
          }
          if (depth === 0 && this.#wasList) this.#listEnds();
          break;
        case COMMA:
          if (depth === 1) this.#nextMember();
          break;
        case COLON:
          if (depth === 1) this.#afterColon = true;
          break;
        default:
          if (depth === 0 ? c !== MINUS : depth === this.#listDepth) throw this.#misplaced("something");
      }
      if (depth < 0) throw this.#misplaced("a closing bracket");
    }
    if (this.#member !== undefined && this.#inString) this.#member += chunk.toString("utf8", memberFrom, length);
    if (this.#inText) this.#batches.append(chunk.subarray(textFrom), this.#textLine);
    this.#depth = depth;
    return this.#batches.take();
  }

  /** @throws ScanError when the file ends inside of an object */
  finish(): readonly Batch[] {
    if (this.#depth > 0 || this.#inString) throw new ScanError(`${this.#file}: the file ends inside of an object`);
    return this.#batches.finish();
  }

  /** The index of the quote, or the chunk's length. */
  #stringEnd(chunk: Buffer, from: number): number {
    let i = from;
    if (this.#escaped) {
      this.#escaped = false;
      i++;
    }
    for (; i < chunk.length; i++) {
      const c = chunk[i];
      if (c === QUOTE) {
        this.#inString = false;
        return i;
      }
      if (c === BACKSLASH && ++i === chunk.length) this.#escaped = true;
    }
    return chunk.length;
  }

  /** Begins an outermost object. */
  #begins(): void {
    this.#kind = undefined;
    this.#apiVersion = "";
    this.#wasList = false;
    this.#nextMember();
  }

  #nextMember(): void {
    this.#key = "";
    this.#afterColon = false;
  }

  #memberEnds(written: string): void {
    const text = meaningOf(written);
    this.#member = undefined;
    if (!this.#afterColon) this.#key = text;
    else if (this.#key === "kind") this.#kind = text;
    else if (this.#key === "apiVersion") this.#apiVersion = text;
  }

  /** Whether the list that begins holds resources. An object whose kind comes behind its items counts as a list until then. */
  #isItems(): boolean {
    return this.#listDepth === NO_LIST && this.#key === "items" && (this.#kind?.endsWith(LIST_SUFFIX) ?? true);
  }

  #listBegins(depth: number): void {
    this.#listDepth = depth + 1;
    this.#inText = false;
    this.#batches.drop();
    this.#wasList = depth === 1;
    const kind = this.#kind?.slice(0, -LIST_SUFFIX.length) ?? "";
    this.#batches.of(depth === 1 && kind !== "" ? { apiVersion: this.#apiVersion, kind } : undefined);
  }

  #listEnds(): void {
    this.#wasList = false;
    if (this.#kind !== undefined && !this.#kind.endsWith(LIST_SUFFIX)) {
      throw new ScanError(`${this.#file}: a ${this.#kind} with items: write its kind before them`);
    }
  }

  #misplaced(what: string): ScanError {
    return new ScanError(`${this.#file}: ${what} stands where a resource was expected`);
  }
}

/** The value of a string's text without the quotes. An invalid one is reported when the object is parsed. */
function meaningOf(written: string): string {
  if (!written.includes("\\")) return written;
  try {
    return String(parseJson(`"${written}"`));
  } catch {
    return written;
  }
}
