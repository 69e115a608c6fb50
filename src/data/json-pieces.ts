/**
 * Reads a long JSON text piece by piece, so that others have their turn in between: a megabyte of many small values takes the built-in parser up to a tenth of
 * a second, and an exact reader several.
 */
import { closingQuote } from "./json-values.js";
import { setKey } from "./plain-object.js";

/** Least characters of a piece: it is read within some milliseconds, whatever it contains. */
const PIECE = 32 * 1024;

const QUOTE = 0x22;
const COMMA = 0x2c;
const LIST = 0x5b;
const LIST_END = 0x5d;
const OBJECT = 0x7b;
const OBJECT_END = 0x7d;
const SPACE = 0x20;

/** A list or an object that is open. */
interface Open {
  readonly isList: boolean;
  /** The place of its bracket, and its key in the object around it. */
  readonly at: number;
  readonly key: Range;
  /** The place from which on its members have not been read. */
  unread: number;
  /** The part that has been read; absent: none yet. */
  value?: Members;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

type Members = unknown[] | Record<string, unknown>;

const NO_KEY: Range = { start: 0, end: 0 };

/**
 * Reads a text that is known to be JSON. Every step reads a piece, and the last one gives the value: the result of `read` for the whole.
 * @param read reads a text of JSON
 * @param piece characters of a piece at least
 */
export function* readInPieces(
  text: string,
  read: (text: string) => unknown,
  piece = PIECE,
): Generator<undefined, unknown, undefined> {
  return yield* new PieceReader(text, read, piece).run();
}

class PieceReader {
  readonly #text: string;
  readonly #read: (text: string) => unknown;
  readonly #piece: number;
  /** The open containers from the outermost on. Those with a value so far are the first ones. */
  readonly #open: Open[] = [];
  /** The place up to which all has been read. */
  #readTo = 0;

  constructor(text: string, read: (text: string) => unknown, piece: number) {
    this.#text = text;
    this.#read = read;
    this.#piece = piece;
  }

  *run(): Generator<undefined, unknown, undefined> {
    const text = this.#text;
    let lastString = NO_KEY;
    for (let at = 0; at < text.length; at++) {
      switch (text.charCodeAt(at)) {
        case QUOTE: {
          const start = at;
          at = closingQuote(text, at + 1);
          lastString = { start, end: at + 1 };
          break;
        }
        case LIST:
        case OBJECT:
          this.#open.push({ isList: text.charCodeAt(at) === LIST, at, key: lastString, unread: at + 1 });
          break;
        case LIST_END:
        case OBJECT_END: {
          const closed = this.#open.pop();
          if (closed?.value === undefined) break;
          this.#readMembers(closed, closed.value, at);
          const around = this.#open.at(-1);
          if (around === undefined) return closed.value;
          around.unread = at + 1;
          this.#readTo = at + 1;
          break;
        }
        case COMMA:
          if (at - this.#readTo < this.#piece) break;
          this.#readUpTo(at);
          yield undefined;
          break;
        default:
      }
    }
    // It is shorter than a piece, or neither a list nor an object.
    return this.#read(text);
  }

  /** Reads everything before the comma: open containers are begun, and get their members so far. */
  #readUpTo(comma: number): void {
    const open = this.#open;
    for (const [index, each] of open.entries()) {
      const inner = open[index + 1];
      if (each.value === undefined) {
        each.value = each.isList ? [] : {};
        const around = open[index - 1];
        if (around?.value !== undefined) this.#add(around.value, each.key, each.value);
      }
      this.#readMembers(each, each.value, inner === undefined ? comma : each.isList ? inner.at : inner.key.start);
      // Behind the inner container once that is closed.
      each.unread = inner === undefined ? comma + 1 : inner.at;
    }
    this.#readTo = comma + 1;
  }

  /** Reads the members that end before `end`. */
  #readMembers({ isList, unread }: Open, into: Members, end: number): void {
    const text = this.#text;
    let [from, to] = [unread, end];
    while (from < to && isBetween(text.charCodeAt(from))) from++;
    while (to > from && isBetween(text.charCodeAt(to - 1))) to--;
    if (from >= to) return;
    const members = text.slice(from, to);
    if (isList) for (const value of this.#read(`[${members}]`) as unknown[]) (into as unknown[]).push(value);
    else {
      const read = this.#read(`{${members}}`) as Record<string, unknown>;
      for (const key of Object.keys(read)) setKey(into as Record<string, unknown>, key, read[key]);
    }
  }

  #add(into: Members, { start, end }: Range, value: Members): void {
    if (Array.isArray(into)) into.push(value);
    else setKey(into, String(this.#read(this.#text.slice(start, end))), value);
  }
}

/** White space and commas, which stand before and behind members. */
const isBetween = (code: number): boolean => code === COMMA || code <= SPACE;
