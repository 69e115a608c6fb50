/**
 * Reads a JSON document without its largest values: they are read when they are needed, and guests get their text as it is. The
 * built-in parser takes two thirds of the time in which a policy of a few instructions answers.
 */
import { isAscii, isUtf8 } from "node:buffer";
import { parseJson, parseScanned } from "./json.js";
import {
  type Cut,
  ESCAPED_BESIDE,
  ESCAPED_IN_PART,
  ESCAPED_WITHIN,
  type JsonScan,
  type WantedCuts,
} from "./json-scan.js";
import { makeLater } from "./read-later.js";

/** A document whose wanted values are read separately. */
export interface JsonParts {
  /** The document; in place of a wanted value it has an empty object. */
  readonly value: unknown;
  readonly cuts: readonly Cut[];
  /** Reads one of them. The caller owns the result. */
  readonly read: (cut: Cut) => unknown;
}

/** Bytes from which on values are left out: reading a shorter one takes no longer than leaving it for later. */
const LONG = 2 * 1024;

/**
 * Reads a document in parts.
 * @param bytes UTF-8; not to be changed as long as a part may be read
 * @param scan the scan of the document
 * @param later names of wanted values that are left out
 * @param least bytes that they must have together, unless their keys have escapes: so little of it needs the exact reader
 * @returns undefined when these are short, or the document has to be read as a whole: an object in it may have a repeated key, it has a number or an escape that
 *   the built-in parser reads wrongly (see `json.ts`), a key with an escape beside these values or in a very long one, or a text longer than a window
 */
export function readJsonParts(
  bytes: Buffer,
  scan: JsonScan,
  wanted: WantedCuts,
  later: ReadonlySet<string>,
  least = LONG,
): JsonParts | undefined {
  if (!scan.isExact || !scan.isWhole || !scan.isUnique || scan.surrogates) return undefined;
  if ((scan.escapedKeys & ESCAPED_BESIDE) !== 0) return undefined;
  const cuts = scan.cuts.filter(({ name }) => later.has(name));
  if (cuts.length === 0) return undefined;
  if (scan.escapedKeys === 0 && cuts.reduce((sum, { start, end }) => sum + end - start, 0) < least) return undefined;
  if (cuts.some((cut) => isLongFor(cut, scan.escapedKeys))) return undefined;
  const text = textOf(bytes);
  if (text === undefined) return undefined;
  let head = "";
  let from = 0;
  for (const { start, end } of cuts) {
    head += `${text(from, start)}{}`;
    from = end;
  }
  const value = parseScanned(head + text(from, bytes.length));
  return { value, cuts: scan.cuts, read: (cut) => readCut(cut, text, wanted, scan.escapedKeys) };
}

/** Most bytes for the exact reader at once: some 30 ms, whatever they contain. */
const EXACT = 128 * 1024;

/** Whether a value is too long for the exact reader. */
function isLongFor({ start, end, part }: Cut, escapedKeys: number): boolean {
  if ((escapedKeys & ESCAPED_WITHIN) !== 0 && end - start > EXACT) return true;
  return (escapedKeys & ESCAPED_IN_PART) !== 0 && part !== undefined && part.end - part.start > EXACT;
}

/** Bytes of a part from which on it is read later, too: leaving it out takes a microsecond. */
const LONG_PART = 512;

function readCut({ start, end, part }: Cut, text: TextOf, wanted: WantedCuts, escapedKeys: number): unknown {
  const read = (escapedKeys & ESCAPED_WITHIN) === 0 ? parseScanned : parseJson;
  const readPart = (escapedKeys & ESCAPED_IN_PART) === 0 ? parseScanned : parseJson;
  if (wanted.part === undefined || part === undefined) return read(text(start, end));
  // A short part that needs another reader must not force it on the whole value.
  if (part.end - part.start < LONG_PART && read === readPart) return read(text(start, end));
  const [member, inner] = wanted.part;
  const value = read(withoutMember(inner, text(start, part.start), text(part.end, end))) as Record<string, object>;
  makeLater(value[member] as object, inner, () => readPart(text(part.start, part.end)));
  return value;
}

/**
 * The text of a value without a member of an object in it, if that is the object's last one, and else with an empty object in its place. Replacing an existing
 * value gives the object a form in which all of its members are slow to read.
 */
function withoutMember(name: string, before: string, behind: string): string {
  const key = `"${name}":`;
  const at = before.length - key.length;
  const isBehindOthers = before[at - 1] === ",";
  const isFound = before.endsWith(key) && (isBehindOthers || before[at - 1] === "{");
  if (!isFound || !behind.startsWith("}")) return `${before}{}${behind}`;
  return before.slice(0, isBehindOthers ? at - 1 : at) + behind;
}

type TextOf = (start: number, end: number) => string;

/** Makes texts from some of the bytes; undefined when they are not UTF-8. One byte a character is cheaper to make and to parse. */
function textOf(bytes: Buffer): TextOf | undefined {
  if (isAscii(bytes)) return (start, end) => bytes.toString("latin1", start, end);
  return isUtf8(bytes) ? (start, end) => bytes.toString("utf8", start, end) : undefined;
}
