/** The values of scalars: by the rules of go-yaml v2, which are those of YAML 1.1 except for dates and numbers of base 60, which are texts. */
import type { YamlScalar } from "./node.js";
import { characterLength } from "./text.js";

const DATE = /^(\d{4})-(\d{1,2})-(\d{1,2})(?:([Tt ])(.*))?$/;
/** Hours of one digit or two; minutes and seconds too. Fractions begin with a dot or a comma. */
const TIME = /^(\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,]\d+)?$/;
const ZONE = /(?:Z|[+-](\d{2}):(\d{2}))$/;

/** Whether go-yaml reads a text as a point in time, which only matters to scalars with the tag `!!timestamp`: a date, or a date and a time. */
function isTimestamp(text: string): boolean {
  const [, year = "", month = "", day = "", separator, rest = ""] = DATE.exec(text) ?? [];
  if (year === "" || !isDay(Number(year), Number(month), Number(day))) return false;
  if (separator === undefined) return true;
  if (separator === " ") return isTime(rest);
  const zone = ZONE.exec(rest);
  if (zone === null || Number(zone[1] ?? 0) > 24 || Number(zone[2] ?? 0) > 60) return false;
  return isTime(rest.slice(0, zone.index));
}

function isDay(year: number, month: number, day: number): boolean {
  const date = new Date(Date.UTC(2000, month - 1, day));
  date.setUTCFullYear(year, month - 1, day);
  return month >= 1 && month <= 12 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

function isTime(text: string): boolean {
  const [, hour, minute, second] = TIME.exec(text) ?? [];
  return hour !== undefined && Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60;
}

const CORE = "tag:yaml.org,2002:";
const STRING = `${CORE}str`;
const BINARY = `${CORE}binary`;
const MERGE = `${CORE}merge`;

const KNOWN_TAGS: ReadonlySet<string> = new Set(
  ["str", "binary", "merge", "bool", "int", "float", "null", "timestamp", "map", "seq", "set", "omap"].map(
    (name) => CORE + name,
  ),
);

/**
 * The text that was probably meant by a scalar with a tag that YAML does not have, such as `!has(object.spec)`; undefined for one without. A lone `!` before quotes is
 * a tag of YAML, before a plain text it is probably a part of it.
 */
export function meantByTag({ tag, text, style }: YamlScalar): string | undefined {
  if (tag === "" || KNOWN_TAGS.has(tag) || (tag === "!" && style !== "plain")) return undefined;
  const written = tag.startsWith(CORE) ? `!!${tag.slice(CORE.length)}` : tag;
  return text === "" ? written : `${written} ${text}`;
}

/** The kind of a scalar, named by a tag. */
type Kind = "str" | "bool" | "int" | "float" | "null" | "timestamp" | "merge";

/** A number that is not an integer for YAML, though its value may be whole; infinite ones and NaN among them. */
export class Float {
  constructor(readonly value: number) {}
}

/** A value; integers beyond the safe ones are bigints. */
export type Resolved = string | boolean | null | bigint | number | Float;

/** The error of a scalar whose text does not fit its tag. */
export class Mismatch {
  constructor(readonly reason: string) {}
}

const WORDS: ReadonlyMap<string, boolean | null | Float> = new Map<string, boolean | null | Float>([
  ...["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"].map((word) => [word, true] as const),
  ...["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"].map((word) => [word, false] as const),
  ...["", "~", "null", "Null", "NULL"].map((word) => [word, null] as const),
  ...[".nan", ".NaN", ".NAN"].map((word) => [word, new Float(Number.NaN)] as const),
  ...[".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"].map((word) => [word, new Float(Infinity)] as const),
  ...["-.inf", "-.Inf", "-.INF"].map((word) => [word, new Float(-Infinity)] as const),
]);

/** First characters of scalars that may not be texts: of words, and of numbers. */
const WORD_START = /^[yYnNtTfFoO~]/;
const LONGEST_WORD = 5;
/** Digits up to which any number is a safe integer. */
const SAFE_DIGITS = 15;
const DECIMAL = /^[+-]?(?:0|[1-9][0-9]*)$/;
const PREFIXED = /^([+-]?)(?:0[xX]([0-9a-fA-F]+)|0[oO]?([0-7]+)|0[bB]([01]+))$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
/** Floats without a digit before the dot, in which underscores stand between digits only. */
const DOTTED = /^\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?$/;
/** A binary number with a sign behind its prefix, which is also read. */
const ODD_BINARY = /^0b([+-]?)([01]+)$/;

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
const UINT64_MAX = 2n ** 64n - 1n;
/** Most digits: the largest integer in base 2 has 64, without leading zeros. Reading digits takes the square of their number. */
const MOST_DIGITS = 64;

/** The value of a plain scalar without a tag. */
export function resolvePlain(text: string): Resolved {
  const first = text.charCodeAt(0);
  // Most scalars are words that begin with a letter of no number.
  if (first >= 0x30 && first <= 0x39) return numberOr(text);
  if (first === 0x2b || first === 0x2d) return WORDS.get(text) ?? numberOr(text);
  if (first === 0x2e) return WORDS.get(text) ?? dotted(text);
  if (text.length > LONGEST_WORD || (text !== "" && !WORD_START.test(text))) return text;
  const word = WORDS.get(text);
  return word === undefined ? text : word;
}

/** The value of a scalar with a tag. */
export function resolveTagged(text: string, tag: string): Resolved | Mismatch {
  if (tag === STRING) return text;
  if (tag === BINARY) return binary(text) ?? new Mismatch("!!binary is written in base64");
  const wanted = WANTED.get(tag);
  if (wanted === undefined) return text;
  const value = resolvePlain(text);
  const found = wanted === "timestamp" && isTimestamp(text) ? wanted : kindOf(text, value);
  if (found === wanted) return value;
  if (wanted === "float" && found === "int" && !(typeof value === "bigint" && value > INT64_MAX)) {
    return new Float(Number(value));
  }
  return new Mismatch(`this is no !!${wanted}`);
}

const WANTED: ReadonlyMap<string, Kind> = new Map(
  (["bool", "int", "float", "null", "timestamp"] as const).map((kind) => [CORE + kind, kind]),
);

/** Whether a scalar, as a key, is a merge key. */
export function isMergeKey(text: string, tag: string, style: string): boolean {
  return text === "<<" && (tag === "" ? style === "plain" : tag === "!" || tag === MERGE);
}

function kindOf(text: string, value: Resolved): Kind {
  switch (typeof value) {
    case "boolean":
      return "bool";
    case "number":
    case "bigint":
      return "int";
    case "object":
      return value === null ? "null" : "float";
    default:
      return text === "<<" ? "merge" : "str";
  }
}

function numberOr(text: string): Resolved {
  if (text.length <= SAFE_DIGITS && DECIMAL.test(text)) return Number(text) + 0;
  const plain = text.includes("_") ? text.replaceAll("_", "") : text;
  return integer(plain) ?? float(plain) ?? oddBinary(plain) ?? text;
}

/** An integer of 64 bits; unsigned ones only without a sign. */
function integer(plain: string): Resolved | undefined {
  let digits: string;
  let sign: string;
  let base = "";
  if (DECIMAL.test(plain)) {
    sign = /^[+-]/.exec(plain)?.[0] ?? "";
    digits = plain.slice(sign.length);
  } else {
    const match = PREFIXED.exec(plain);
    if (match === null) return undefined;
    const [, found = "", hex, octal, bits] = match;
    sign = found;
    base = hex === undefined ? (octal === undefined ? "0b" : "0o") : "0x";
    digits = hex ?? octal ?? bits ?? "";
  }
  return inRange(sign, base, digits);
}

function inRange(sign: string, base: string, written: string): Resolved | undefined {
  const digits = written.replace(/^0+(?=.)/, "");
  if (digits.length > MOST_DIGITS) return undefined;
  const magnitude = BigInt(base + digits);
  const value = sign === "-" ? -magnitude : magnitude;
  if (value < INT64_MIN || value > (sign === "" ? UINT64_MAX : INT64_MAX)) return undefined;
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
}

/** A finite float; a larger number is a text. */
function float(plain: string): Resolved | undefined {
  if (!FLOAT.test(plain)) return undefined;
  const value = Number(plain);
  return Number.isFinite(value) ? new Float(value) : undefined;
}

function dotted(text: string): Resolved {
  return (DOTTED.test(text) ? float(text.replaceAll("_", "")) : undefined) ?? text;
}

function oddBinary(plain: string): Resolved | undefined {
  const [, sign, digits] = ODD_BINARY.exec(plain) ?? [];
  return sign === undefined || digits === undefined ? undefined : inRange(sign, "0b", digits);
}

/** The text of base64; undefined for an invalid one. Octets that are not UTF-8 become U+FFFD, byte by byte. */
function binary(text: string): string | undefined {
  const compact = text.replace(/[\r\n]/g, "");
  if (compact.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(compact)) return undefined;
  const bytes = Buffer.from(compact, "base64");
  let decoded = bytes.toString("utf8");
  if (!decoded.includes("\ufffd")) return decoded;
  decoded = "";
  for (let at = 0; at < bytes.length; ) {
    const length = characterLength(bytes, at);
    decoded += length === 0 ? "\ufffd" : bytes.toString("utf8", at, at + length);
    at += Math.max(length, 1);
  }
  return decoded;
}
