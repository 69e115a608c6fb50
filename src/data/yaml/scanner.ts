import { readBlockScalar } from "./block-scalar.js";
import { END, isBreak, isGap, SPACE, TAB } from "./characters.js";
import type { Cursor } from "./cursor.js";
import { type Candidate, candidate, isNear } from "./key-candidate.js";
import { readPlainScalar } from "./plain-scalar.js";
import { readAnchor, readDirective, readTag } from "./properties.js";
import { readQuotedScalar } from "./quoted-scalar.js";
import { type Token, type TokenKind, token } from "./token.js";

const PERCENT = 0x25;
/** Byte order mark. */
const BOM = 0xfeff;

/**
 * Cuts a document into tokens of YAML 1.1. A key is only recognised when its colon comes, so tokens wait in a queue while their first
 * may begin a key, and the key token is inserted before it.
 */
export class Scanner {
  readonly #cursor: Cursor;
  /** The waiting tokens, from `#head` to `#tail`; others are taken already. It is never shortened, which would cost more than everything else. */
  readonly #queue: Token[] = [];
  #head = 0;
  #tail = 0;
  /** Number of tokens taken from the queue since the beginning. */
  #taken = 0;
  /** Indentation of the block that is being read, -1 outside of all. */
  #indent = -1;
  readonly #outerIndents: number[] = [];
  readonly #candidates: Candidate[] = [candidate()];
  /** Number of open brackets. */
  #flow = 0;
  #mayBeginKey = true;
  /** Whether no token can be inserted before the next one any more. */
  #isReady = false;

  constructor(cursor: Cursor) {
    this.#cursor = cursor;
    if (cursor.code(cursor.at) === BOM) {
      cursor.at++;
      cursor.lineStart++;
    }
  }

  /**
   * The next token, which stays the next one.
   * @throws YamlError
   */
  peek(): Token {
    if (!this.#isReady) {
      while (this.#needsMore()) this.#fetch();
      this.#isReady = true;
    }
    return this.#queue[this.#head] as Token;
  }

  /** Takes the token that {@link peek} gave; the last one, `end`, is never taken. */
  skip(): void {
    this.#isReady = false;
    this.#head++;
    this.#taken++;
    if (this.#head < this.#tail) return;
    this.#head = 0;
    this.#tail = 0;
  }

  #needsMore(): boolean {
    if (this.#head === this.#tail) return true;
    const one = this.#candidateOf(this.#taken);
    return one?.isAwaited === true && this.#isStillOpen(one);
  }

  /** The candidate for a key with that token as its first. Tokens of inner levels come later than those of outer ones. */
  #candidateOf(number: number): Candidate | undefined {
    let low = 0;
    let high = this.#flow;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#candidates[middle] as Candidate).token < number) low = middle + 1;
      else high = middle;
    }
    const found = this.#candidates[low];
    return found?.token === number ? found : undefined;
  }

  #push(next: Token): void {
    this.#queue[this.#tail++] = next;
  }

  /** Inserts a token before the one with that number, or at the end if that one is taken. */
  #insert(number: number, inserted: Token): void {
    const queue = this.#queue;
    const place = number < this.#taken ? this.#tail : this.#head + number - this.#taken;
    for (let i = this.#tail++; i > place; i--) queue[i] = queue[i - 1] as Token;
    queue[place] = inserted;
  }

  #fetch(): void {
    const cursor = this.#cursor;
    this.#skipToToken();
    if (this.#flow === 0) this.#closeBlocks(cursor.column);
    const c = cursor.code(cursor.at);
    if (c === END) this.#end();
    else if (c === PERCENT && cursor.at === cursor.lineStart) this.#directive();
    else if (cursor.atDocumentMark()) this.#documentMark(c);
    else if (!this.#indicated(c)) {
      const shown = c === TAB ? "a tab" : String.fromCharCode(c);
      throw cursor.error(`${shown} can't begin a value: ${c === TAB ? "indent with spaces" : "write it in quotes"}`);
    }
  }

  /** Reads the token that a character begins; false when it begins none. */
  #indicated(c: number): boolean {
    switch (c) {
      case 0x5b: // [
        this.#openFlow("[");
        return true;
      case 0x7b: // {
        this.#openFlow("{");
        return true;
      case 0x5d: // ]
        this.#closeFlow("]");
        return true;
      case 0x7d: // }
        this.#closeFlow("}");
        return true;
      case 0x2c: // ,
        this.#comma();
        return true;
      case 0x2d: // -
        if (this.#isFollowedByGap()) this.#dash();
        else this.#plain();
        return true;
      case 0x3f: // ?
        if (this.#flow > 0 || this.#isFollowedByGap()) this.#explicitKey();
        else this.#plain();
        return true;
      case 0x3a: // :
        if (this.#flow > 0 || this.#isFollowedByGap()) this.#colon();
        else this.#plain();
        return true;
      case 0x2a: // *
      case 0x26: // &
      case 0x21: // !
      case 0x22: // "
      case 0x27: // '
        this.#mayBeKey();
        this.#push(readMarked(this.#cursor, c));
        return true;
      case 0x7c: // |
      case 0x3e: // >
        if (this.#flow > 0) return false;
        this.#block();
        return true;
      case TAB:
      case PERCENT:
      case 0x23: // #
      case 0x40: // @
      case 0x60: // `
        return false;
      default:
        this.#plain();
        return true;
    }
  }

  #isFollowedByGap(): boolean {
    return isGap(this.#cursor.code(this.#cursor.at + 1));
  }

  /** Skips blanks, breaks and comments. Where a key may begin in a block, a tab does not count as a blank: it would be indentation. */
  #skipToToken(): void {
    const cursor = this.#cursor;
    for (;;) {
      let c = cursor.code(cursor.at);
      while (c === SPACE || (c === TAB && (this.#flow > 0 || !this.#mayBeginKey))) c = cursor.code(++cursor.at);
      if (c === 0x23) {
        cursor.skipLine();
        c = cursor.code(cursor.at);
      }
      if (!isBreak(c)) return;
      cursor.skipBreak();
      if (this.#flow === 0) this.#mayBeginKey = true;
    }
  }

  /** Ends the blocks that are indented further than a column. */
  #closeBlocks(column: number): void {
    while (this.#indent > column) {
      this.#push(token("block-end", this.#cursor.at, this.#cursor.at));
      this.#indent = this.#outerIndents.pop() ?? -1;
    }
  }

  /** Begins a block unless it continues one of this indentation; `before` is its first token, if that is read already. */
  #openBlock(kind: "block-sequence" | "block-mapping", column: number, start: number, before?: number): void {
    if (this.#flow > 0 || this.#indent >= column) return;
    this.#outerIndents.push(this.#indent);
    this.#indent = column;
    if (before === undefined) this.#push(token(kind, start, start));
    else this.#insert(before, token(kind, start, start));
  }

  #end(): void {
    const cursor = this.#cursor;
    if (cursor.forbidden) throw cursor.errorOfForbidden();
    // A text may end within a line: a candidate in it gets no colon, and those of outer levels do not either.
    cursor.lineStart = cursor.at;
    if (this.#flow === 0) this.#closeBlocks(-1);
    this.#noKey();
    this.#push(token("end", cursor.at, cursor.at));
  }

  #directive(): void {
    if (this.#flow === 0) this.#closeBlocks(-1);
    this.#noKey();
    this.#mayBeginKey = false;
    this.#push(readDirective(this.#cursor));
  }

  #documentMark(c: number): void {
    if (this.#flow === 0) this.#closeBlocks(-1);
    this.#noKey();
    this.#mayBeginKey = false;
    const start = this.#cursor.at;
    this.#cursor.at += 3;
    this.#push(token(c === 0x2d ? "document-start" : "document-end", start, this.#cursor.at));
  }

  #openFlow(kind: "[" | "{"): void {
    this.#mayBeKey();
    this.#flow++;
    if (this.#flow === this.#candidates.length) this.#candidates.push(candidate());
    const inner = this.#candidates[this.#flow] as Candidate;
    inner.isOpen = false;
    inner.bracket = this.#nextNumber();
    inner.token = inner.bracket + 1;
    this.#mayBeginKey = true;
    this.#one(kind);
  }

  #closeFlow(kind: "]" | "}"): void {
    this.#noKey();
    if (this.#flow > 0) {
      // As in Kubernetes' reader, brackets without a candidate in them, such as `[]` or `{? a}`, cannot become keys: the document of `[]: a` is `[]`.
      const { bracket } = this.#candidates[this.#flow] as Candidate;
      const outer = this.#candidates[--this.#flow] as Candidate;
      if (outer.token === bracket) outer.isAwaited = false;
    }
    this.#mayBeginKey = false;
    this.#one(kind);
  }

  #comma(): void {
    this.#noKey();
    this.#mayBeginKey = true;
    this.#one(",");
  }

  #dash(): void {
    const cursor = this.#cursor;
    if (this.#flow === 0) {
      if (!this.#mayBeginKey) throw cursor.error("a list can't begin here: put its first - in a line of its own");
      this.#openBlock("block-sequence", cursor.column, cursor.at);
    }
    this.#noKey();
    this.#mayBeginKey = true;
    this.#one("-");
  }

  #explicitKey(): void {
    const cursor = this.#cursor;
    if (this.#flow === 0) {
      if (!this.#mayBeginKey) throw cursor.error("a key can't begin here: put it in a line of its own");
      this.#openBlock("block-mapping", cursor.column, cursor.at);
    }
    this.#noKey();
    this.#mayBeginKey = this.#flow === 0;
    this.#one("key");
  }

  #colon(): void {
    const cursor = this.#cursor;
    const key = this.#candidates[this.#flow] as Candidate;
    if (this.#isStillOpen(key)) {
      this.#insert(key.token, token("key", key.start, key.start));
      this.#openBlock("block-mapping", key.start - key.lineStart, key.start, key.token);
      key.isOpen = false;
      this.#mayBeginKey = false;
    } else {
      if (this.#flow === 0) {
        if (!this.#mayBeginKey)
          throw cursor.error("a colon can't stand here: put the text before it, or the value, in quotes");
        this.#openBlock("block-mapping", cursor.column, cursor.at);
      }
      this.#mayBeginKey = this.#flow === 0;
    }
    this.#one("value");
  }

  #plain(): void {
    this.#mayBeKey();
    const scalar = readPlainScalar(this.#cursor, this.#indent + 1, this.#flow > 0);
    this.#push(scalar);
    if (this.#cursor.lineStart > scalar.end) this.#mayBeginKey = true;
  }

  #block(): void {
    this.#noKey();
    this.#mayBeginKey = true;
    this.#push(readBlockScalar(this.#cursor, this.#indent));
  }

  /** A token of one character. */
  #one(kind: TokenKind): void {
    const start = this.#cursor.at;
    this.#cursor.at++;
    this.#push(token(kind, start, start + 1));
  }

  /** Records that a key may begin here, and that none begins behind it in the same line. */
  #mayBeKey(): void {
    if (this.#mayBeginKey) {
      this.#noKey();
      const cursor = this.#cursor;
      const one = this.#candidates[this.#flow] as Candidate;
      one.isOpen = true;
      one.isAwaited = true;
      one.bracket = -1;
      one.isRequired = this.#flow === 0 && this.#indent === cursor.column;
      one.token = this.#nextNumber();
      one.start = cursor.at;
      one.latest = -1;
      one.lineStart = cursor.lineStart;
    }
    this.#mayBeginKey = false;
  }

  /** The number of the token that is put into the queue next. */
  #nextNumber(): number {
    return this.#taken + this.#tail - this.#head;
  }

  /** Drops the candidate of this level. */
  #noKey(): void {
    const one = this.#candidates[this.#flow] as Candidate;
    if (one.isOpen && one.isRequired) throw this.#noColon(one);
    one.isOpen = false;
  }

  /** Whether a colon at this place makes it a key: it has to be near, and in the same line. */
  #isStillOpen(one: Candidate): boolean {
    if (!one.isOpen) return false;
    const cursor = this.#cursor;
    if (one.lineStart === cursor.lineStart && isNear(one, cursor)) return true;
    if (one.isRequired) throw this.#noColon(one);
    one.isOpen = false;
    return false;
  }

  #noColon(one: Candidate): Error {
    return this.#cursor.error("a key was expected here, but no colon follows it", one.start);
  }
}

/** Reads a token that begins with a quote, or a character of anchors, aliases and tags. */
function readMarked(cursor: Cursor, c: number): Token {
  if (c === 0x22 || c === 0x27) return readQuotedScalar(cursor);
  return c === 0x21 ? readTag(cursor) : readAnchor(cursor);
}
