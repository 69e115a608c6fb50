/** Reads properties before a node or a document: anchors and aliases, tags, directives. */
import { endsLine, hexDigit, isBlank, isDigit, isGap, isNameCharacter } from "./characters.js";
import type { Cursor } from "./cursor.js";
import { type Token, token } from "./token.js";

const BANG = 0x21;
const HASH = 0x23;
const PERCENT = 0x25;
const AMPERSAND = 0x26;
const DOT = 0x2e;
const LESS = 0x3c;
const GREATER = 0x3e;
/** Characters that may follow the name of an anchor beside blanks and breaks: `?` `:` `,` `]` `}` `%` `@` and a backtick. */
const AFTER_NAME: ReadonlySet<number> = new Set([0x3f, 0x3a, 0x2c, 0x5d, 0x7d, PERCENT, 0x40, 0x60]);
/** Characters of tags beside letters, digits, `-`, `_` and escapes. */
const TAG_CHARACTERS: ReadonlySet<number> = new Set(
  [..."; / ? : @ & = + $ , . ! ~ * ' ( ) [ ]".replaceAll(" ", "")].map((c) => c.charCodeAt(0)),
);
/** Digits of the numbers of a version. */
const MOST_VERSION_DIGITS = 2;

/**
 * Reads `&name` or `*name`, which begins here.
 * @throws YamlError for an invalid name
 */
export function readAnchor(cursor: Cursor): Token {
  const start = cursor.at;
  const kind = cursor.code(start) === AMPERSAND ? "anchor" : "alias";
  cursor.at++;
  const name = readName(cursor);
  const c = cursor.code(cursor.at);
  if (name === "" || !(isGap(c) || AFTER_NAME.has(c))) {
    throw cursor.error(`the name of an ${kind} is of letters, digits, - and _`);
  }
  return token(kind, start, cursor.at, name);
}

/**
 * Reads a tag, which begins here: `!<whole>`, `!handle!suffix`, `!suffix` or `!`.
 * @throws YamlError for an invalid tag, or one without a blank behind it
 */
export function readTag(cursor: Cursor): Token {
  const start = cursor.at;
  let handle = "";
  let suffix: string;
  if (cursor.code(start + 1) === LESS) {
    cursor.at += 2;
    suffix = readTagCharacters(cursor, false);
    if (cursor.code(cursor.at) !== GREATER) throw cursor.error("a tag that begins with !< ends with >");
    cursor.at++;
  } else {
    const written = readHandle(cursor);
    if (written.length > 1 && written.endsWith("!")) {
      handle = written;
      suffix = readTagCharacters(cursor, false);
    } else {
      suffix = written.slice(1) + readTagCharacters(cursor, true);
      handle = "!";
      // A lone `!` is a tag of its own: it marks a text.
      if (suffix === "") [handle, suffix] = ["", "!"];
    }
  }
  if (!isGap(cursor.code(cursor.at))) throw cursor.error("behind a tag comes a blank or the end of the line");
  return token("tag", start, cursor.at, handle, suffix);
}

/**
 * Reads a line that begins with `%`.
 * @throws YamlError for a directive that YAML 1.1 does not have
 */
export function readDirective(cursor: Cursor): Token {
  const start = cursor.at;
  cursor.at++;
  const name = readName(cursor);
  if (name === "" || !isGap(cursor.code(cursor.at)) || (name !== "YAML" && name !== "TAG")) {
    throw cursor.error("a line that begins with % is a directive, of which there are %YAML and %TAG", start);
  }
  cursor.skipBlanks();
  const directive = name === "YAML" ? readVersion(cursor, start) : readTagDirective(cursor, start);
  cursor.skipBlanks();
  if (cursor.code(cursor.at) === HASH) cursor.skipLine();
  if (!endsLine(cursor.code(cursor.at))) throw cursor.error("behind a directive comes nothing but a comment");
  if (cursor.atBreak()) cursor.skipBreak();
  return directive;
}

function readVersion(cursor: Cursor, start: number): Token {
  const major = readVersionNumber(cursor);
  if (cursor.code(cursor.at) !== DOT) throw cursor.error("a version is two numbers with a dot between them");
  cursor.at++;
  const minor = readVersionNumber(cursor);
  return token("version", start, cursor.at, `${major}.${minor}`);
}

function readVersionNumber(cursor: Cursor): number {
  const from = cursor.at;
  while (isDigit(cursor.code(cursor.at))) cursor.at++;
  const length = cursor.at - from;
  if (length === 0 || length > MOST_VERSION_DIGITS) {
    throw cursor.error("a version is two numbers with a dot between them", from);
  }
  return Number(cursor.text.slice(from, cursor.at));
}

function readTagDirective(cursor: Cursor, start: number): Token {
  const handle = readHandle(cursor);
  if (handle !== "!" && !handle.endsWith("!")) throw cursor.error("the handle of a %TAG directive ends with !");
  if (!isBlank(cursor.code(cursor.at))) throw cursor.error("a %TAG directive has a handle, a blank and a prefix");
  cursor.skipBlanks();
  const prefix = readTagCharacters(cursor, false);
  if (!isGap(cursor.code(cursor.at))) throw cursor.error("behind the prefix of a %TAG directive comes nothing");
  return token("tag-directive", start, cursor.at, handle, prefix);
}

/** `!`, letters, and the `!` behind them if there is one. */
function readHandle(cursor: Cursor): string {
  if (cursor.code(cursor.at) !== BANG) throw cursor.error("the handle of a tag begins with !");
  const from = cursor.at;
  cursor.at++;
  readName(cursor);
  if (cursor.code(cursor.at) === BANG) cursor.at++;
  return cursor.text.slice(from, cursor.at);
}

function readName(cursor: Cursor): string {
  const from = cursor.at;
  while (isNameCharacter(cursor.code(cursor.at))) cursor.at++;
  return cursor.text.slice(from, cursor.at);
}

function readTagCharacters(cursor: Cursor, mayBeEmpty: boolean): string {
  const from = cursor.at;
  let text = "";
  for (;;) {
    const c = cursor.code(cursor.at);
    if (c === PERCENT) text += readEscapedCharacter(cursor);
    else if (isNameCharacter(c) || TAG_CHARACTERS.has(c)) {
      text += String.fromCharCode(c);
      cursor.at++;
    } else break;
  }
  if (cursor.at === from && !mayBeEmpty) throw cursor.error("there is nothing behind the ! of a tag");
  return text;
}

/** `%` and two digits for every byte of one character's UTF-8. */
function readEscapedCharacter(cursor: Cursor): string {
  const bytes: number[] = [];
  let length = 1;
  while (bytes.length < length) {
    const high = hexDigit(cursor.code(cursor.at + 1));
    const low = hexDigit(cursor.code(cursor.at + 2));
    const byte = high * 16 + low;
    const isFirst = bytes.length === 0;
    if (isFirst) length = utf8Length(byte);
    const fits = isFirst ? length > 0 : (byte & 0xc0) === 0x80;
    if (cursor.code(cursor.at) !== PERCENT || high < 0 || low < 0 || !fits) {
      throw cursor.error("% in a tag is followed by two digits for every byte of a character");
    }
    bytes.push(byte);
    cursor.at += 3;
  }
  return Buffer.from(bytes).toString("utf8");
}

/** Number of bytes of a character by the first; 0 for an invalid one. */
function utf8Length(byte: number): number {
  if (byte < 0x80) return 1;
  if (byte < 0xc0 || byte >= 0xf8) return 0;
  return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}
