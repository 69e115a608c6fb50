/** `format` (spec kubernetes-cel.md 4.3 and 4.14): the common part of its two versions, the reading of a format string. */
import { typeNameOf } from "../../operators/kind.js";
import { CelError } from "../../values/cel-error.js";
import { MAX_TEXT_LENGTH, tooLarge } from "../../values/limits.js";
import type { Result, Value } from "../../values/value.js";
import { BoundedWork, type Work } from "../../values/work.js";

/** The letter of a clause: `x` and `X` differ only when they are printed. */
export type Letter = "s" | "d" | "f" | "e" | "b" | "o" | "x" | "X";

/** One version of `format`. */
export interface Dialect {
  /** The static kinds that a clause accepts besides dyn. */
  readonly kinds: Readonly<Record<Letter, readonly string[]>>;
  /** The text of an error for a clause, before `, was given KIND`. */
  readonly complaints: Readonly<Record<Letter, string>>;
  /** The greatest precision, where there is one. */
  readonly maxPrecision: number | undefined;
  /** The text of a value; `undefined` when its kind is wrong for the clause. */
  readonly render: (
    letter: Letter,
    value: Value,
    precision: number | undefined,
    work: Work,
  ) => string | CelError | undefined;
}

/** A clause of a format string, and where the text continues behind it. */
export interface Clause {
  readonly letter: Letter;
  readonly precision: number | undefined;
  readonly next: number;
}

const LETTERS = "sdfebox";
const PARSE_ERROR = "could not parse formatting clause: ";
const PRECISION_ERROR = `${PARSE_ERROR}error while parsing precision: `;
/** The greatest int64, the limit of a precision that can be read at all. */
const MAX_PRECISION_TEXT = "9223372036854775807";

/** The clause at `index`, where a percent sign stands that is not the last character; the error's text when it is invalid. */
export function readClause(format: string, index: number, maxPrecision: number | undefined): Clause | string {
  let at = index + 1;
  let precision: number | undefined;
  if (format[at] === ".") {
    const digits = /[0-9]*/y;
    digits.lastIndex = at + 1;
    const text = digits.exec(format)?.[0] ?? "";
    at += 1 + text.length;
    if (at >= format.length) return `${PRECISION_ERROR}could not find end of precision specifier`;
    const value = parsePrecision(text, maxPrecision);
    if (typeof value === "string") return PRECISION_ERROR + value;
    precision = value;
  }
  const letter = format[at] as string;
  if (!LETTERS.includes(letter) && letter !== "X") {
    return `${PARSE_ERROR}unrecognized formatting clause "${firstOctet(format, at)}"`;
  }
  return { letter: letter as Letter, precision, next: at + 1 };
}

function parsePrecision(text: string, maxPrecision: number | undefined): number | string {
  const error = `error while converting precision to integer: strconv.Atoi: parsing "${text}": `;
  if (text === "") return `${error}invalid syntax`;
  const digits = text.replace(/^0+(?=.)/, "");
  const beyond =
    digits.length > MAX_PRECISION_TEXT.length ||
    (digits.length === MAX_PRECISION_TEXT.length && digits > MAX_PRECISION_TEXT);
  if (beyond) return `${error}value out of range`;
  const value = Number(digits);
  if (maxPrecision !== undefined && value > maxPrecision) {
    return `precision ${digits} exceeds maximum allowed precision ${maxPrecision}`;
  }
  return value;
}

/** The first octet of a character: the reference reads the format byte by byte, and its error shows that. */
function firstOctet(format: string, at: number): string {
  const octets = new TextEncoder().encode(String.fromCodePoint(format.codePointAt(at) as number));
  return String.fromCharCode(octets[0] as number);
}

/** Most work of one call, in units of about a nanosecond: some 30 ms. The cost model charges for the format only, and not for the printed values. */
const MAX_PRINTING_WORK = 30_000_000;
/** The work of one clause, and of a digit behind the point. */
const CLAUSE_UNITS = 200;
const DIGIT_UNITS = 100;

/** Formats at run time. */
export function formatWith(dialect: Dialect, format: string, args: readonly Value[]): Result {
  let result = "";
  let position = 0;
  let used = 0;
  const work = new BoundedWork(MAX_PRINTING_WORK);
  for (;;) {
    const percent = format.indexOf("%", position);
    if (percent === -1) return result + format.slice(position);
    result += format.slice(position, percent);
    if (format[percent + 1] === "%") {
      result += "%";
      position = percent + 2;
      continue;
    }
    if (used >= args.length) return new CelError(`index ${used} out of range`);
    if (percent + 1 >= format.length) return new CelError("unexpected end of string");
    const value = args[used++] as Value;
    const plain = plainText(format, percent, value);
    if (plain !== undefined) {
      result += plain;
      work.left -= CLAUSE_UNITS + plain.length;
      if (result.length > MAX_TEXT_LENGTH || work.left < 0) return tooLarge();
      position = percent + 2;
      continue;
    }
    const clause = readClause(format, percent, dialect.maxPrecision);
    if (typeof clause === "string") return new CelError(clause);
    const text =
      dialect.render(clause.letter, value, clause.precision, work) ?? complaint(dialect, clause.letter, value);
    if (text instanceof CelError) return new CelError(`error during formatting: ${text.message}`);
    result += text;
    work.left -= CLAUSE_UNITS + text.length + DIGIT_UNITS * (clause.precision ?? 0);
    if (result.length > MAX_TEXT_LENGTH || work.left < 0) return tooLarge();
    position = clause.next;
  }
}

const LETTER_S = 0x73;
const LETTER_D = 0x64;

/** The texts that all dialects print alike, and that most clauses are: `%s` of a text, and `%d` of an int; `undefined` for others. */
function plainText(format: string, percent: number, value: Value): string | undefined {
  const letter = format.charCodeAt(percent + 1);
  if (letter === LETTER_S) return typeof value === "string" ? value : undefined;
  return letter === LETTER_D && typeof value === "number" && Number.isSafeInteger(value) ? String(value) : undefined;
}

const complaint = (dialect: Dialect, letter: Letter, value: Value): CelError =>
  new CelError(`${dialect.complaints[letter]}, was given ${typeNameOf(value)}`);
