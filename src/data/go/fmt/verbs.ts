/** Prints one argument of the kinds that Rego passes, as Go's fmt does. */

import { floatText } from "../../float-text.js";
import { canBackquote, characterOf, isPrintable, quote, quoteCharacter } from "../quote.js";
import { type Flags, noFlags, pad, padBlank } from "./flags.js";

/** An argument by its type in Go. */
export type Argument =
  | { readonly type: "int64"; readonly value: bigint }
  /** An integer beyond 64 bits. */
  | { readonly type: "*big.Int"; readonly value: bigint }
  | { readonly type: "float64"; readonly value: number }
  | { readonly type: "string"; readonly value: string };

/** The text of an argument for a verb; a verb that does not fit shows as `%!d(string=x)`. */
export function printArgument(argument: Argument, verb: string, flags: Flags): string {
  if (verb === "T") return pad(cut(argument.type, flags), flags);
  const text = printed(argument, verb, flags);
  if (text !== undefined) return text;
  if (argument.type === "*big.Int") return `%!${verb}(big.Int=${argument.value})`;
  return `%!${verb}(${argument.type}=${printed(argument, "v", flags)})`;
}

/** The text of a surplus argument. */
export function printExtra(argument: Argument): string {
  return `${argument.type}=${printed(argument, "v", noFlags())}`;
}

function printed({ type, value }: Argument, verb: string, flags: Flags): string | undefined {
  switch (type) {
    case "int64":
      return printInteger(value, verb, flags);
    case "*big.Int":
      return printBigInteger(value, verb, flags);
    case "float64":
      return printFloat(value, verb, flags);
    case "string":
      return printText(value, verb, flags);
  }
}

const BASES: Readonly<Record<string, number>> = { d: 10, v: 10, s: 10, b: 2, o: 8, O: 8, x: 16, X: 16 };

function printInteger(value: bigint, verb: string, flags: Flags): string | undefined {
  switch (verb) {
    case "c":
      return pad(characterOf(value), flags);
    case "q":
      return pad(quoteCharacter(value, flags.plus), flags);
    case "U":
      return padBlank(codePoint(BigInt.asUintN(64, value), flags), flags);
    case "s":
      return undefined;
  }
  const base = BASES[verb];
  if (base === undefined) return undefined;
  const { plus, space, sharp, zero, minus, width, precision } = flags;
  if (precision === 0 && value === 0n) return " ".repeat(width ?? 0);
  const sign = signOf(value, plus, space);
  const least = precision ?? (zero && !minus && width !== undefined ? width - sign.length : 0);
  let digits = digitsOf(value, base, verb).padStart(least, "0");
  if (sharp && base === 2) digits = `0b${digits}`;
  if (sharp && base === 8 && !digits.startsWith("0")) digits = `0${digits}`;
  if (sharp && base === 16) digits = `0${verb}${digits}`;
  if (verb === "O") digits = `0o${digits}`;
  return padBlank(sign + digits, flags);
}

/** The text of integers beyond 64 bits, which differs a little. */
function printBigInteger(value: bigint, verb: string, flags: Flags): string | undefined {
  const base = BASES[verb];
  if (base === undefined) return undefined;
  const { zero, minus, width = 0, precision } = flags;
  const sign = signOf(value, flags.plus || flags.plusV, flags.space);
  const marks: Readonly<Record<string, string>> = { b: "0b", o: "0", x: "0x", X: "0X" };
  const prefix = verb === "O" ? "0o" : flags.sharp || flags.sharpV ? (marks[verb] ?? "") : "";
  const room = zero && !minus && precision === undefined ? width - sign.length - prefix.length : 0;
  const digits = digitsOf(value, base, verb).padStart(precision ?? room, "0");
  return padBlank(sign + prefix + digits, flags);
}

function digitsOf(value: bigint, base: number, verb: string): string {
  const digits = (value < 0n ? -value : value).toString(base);
  return verb === "X" ? digits.toUpperCase() : digits;
}

function signOf(value: bigint, plus: boolean, space: boolean): string {
  return value < 0n ? "-" : plus ? "+" : space ? " " : "";
}

function codePoint(code: bigint, { precision = 0, sharp }: Flags): string {
  const text = `U+${code.toString(16).toUpperCase().padStart(Math.max(precision, 4), "0")}`;
  const character = code <= 0x10ffffn ? String.fromCodePoint(Number(code)) : "";
  return sharp && character !== "" && isPrintable(character) ? `${text} '${character}'` : text;
}

/** The default number of digits behind the point; undefined: as many as are needed. */
const FLOAT_VERBS: Readonly<Record<string, readonly [string, number | undefined]>> = {
  v: ["g", undefined],
  g: ["g", undefined],
  G: ["G", undefined],
  b: ["b", undefined],
  x: ["x", undefined],
  X: ["X", undefined],
  f: ["f", 6],
  F: ["f", 6],
  e: ["e", 6],
  E: ["E", 6],
};

function printFloat(value: number, verb: string, flags: Flags): string | undefined {
  const form = FLOAT_VERBS[verb];
  if (form === undefined) return undefined;
  const [style, usual] = form;
  const precision = flags.precision ?? usual;
  const text = floatText(value, style, precision);
  const number = flags.sharp && style !== "b" ? withPoint(text.slice(1), style, precision) : text.slice(1);
  const sign = text.startsWith("-") ? "-" : flags.plus ? "+" : flags.space ? " " : "";
  const { zero, minus, width = 0 } = flags;
  // Zeros come between sign and digits.
  return zero && !minus ? sign + number.padStart(width - sign.length, "0") : pad(sign + number, flags);
}

/** The flag `#`: always a decimal point, and with some verbs the zeros at the end. */
function withPoint(text: string, style: string, precision: number | undefined): string {
  const hexadecimal = style === "x" || style === "X";
  const tailAt = text.search(hexadecimal ? /p/i : /e/i);
  const head = tailAt === -1 ? text : text.slice(0, tailAt);
  const tail = tailAt === -1 ? "" : text.slice(tailAt);
  const wanted = style === "g" || style === "G" || style === "x" ? (precision ?? 6) : 0;
  const significant = head.replace(".", "").replace(/^0+/, "").length;
  const point = head.includes(".") ? "" : ".";
  const lone = head === "0" ? 1 : 0;
  return head + point + "0".repeat(Math.max(wanted - significant - lone, 0)) + tail;
}

function printText(value: string, verb: string, flags: Flags): string | undefined {
  switch (verb) {
    case "v":
      return pad(flags.sharpV ? quote(cut(value, flags), flags.plus) : cut(value, flags), flags);
    case "s":
      return pad(cut(value, flags), flags);
    case "q": {
      const text = cut(value, flags);
      return pad(flags.sharp && canBackquote(text) ? `\`${text}\`` : quote(text, flags.plus), flags);
    }
    case "x":
      return pad(bytesOf(value, flags), flags);
    case "X":
      return pad(bytesOf(value, flags).toUpperCase(), flags);
    default:
      return undefined;
  }
}

function bytesOf(text: string, { precision, space, sharp }: Flags): string {
  const bytes = Buffer.from(text).subarray(0, precision).toString("hex");
  if (bytes === "") return "";
  if (space) return bytes.replaceAll(/..(?!$)/g, "$& ").replaceAll(/[^ ]+/g, sharp ? "0x$&" : "$&");
  return sharp ? `0x${bytes}` : bytes;
}

/** At most so many characters. */
function cut(text: string, { precision }: Flags): string {
  return precision === undefined || text.length <= precision ? text : Array.from(text).slice(0, precision).join("");
}
