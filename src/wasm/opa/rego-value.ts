/** Rego's values as its host sees them: JSON whose numbers keep their text. */
import { quote } from "../../data/go-quote.js";
import { parseJson } from "../../data/json.js";

/** A number with a fraction or an exponent, as it was written. Integers are a `number` when safe, else a `bigint`, however large. */
export class WrittenNumber extends Number {
  constructor(readonly text: string) {
    super(text);
  }
}

/**
 * Reads a value that a module passes to its host.
 * @throws JsonError
 */
export function readRego(text: string): unknown {
  return parseJson(text, { number: numberOf });
}

function numberOf(text: string): unknown {
  if (/[.eE]/.test(text)) return new WrittenNumber(text);
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : BigInt(text);
}

/** Prints a value as JSON. */
export function printRego(value: unknown): string {
  return print(value, ",", ":", JSON.stringify);
}

/** Prints a value as Rego's terms look: blanks behind commas and colons, keys in order, Go's quotes. */
export function printTerm(value: unknown): string {
  return print(value, ", ", ": ", (text) => quote(text, false));
}

function print(value: unknown, comma: string, colon: string, text: (value: string) => string): string {
  if (typeof value === "string") return text(value);
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  if (value instanceof WrittenNumber) return value.text;
  if (value instanceof Number) return String(value.valueOf());
  if (Array.isArray(value)) return `[${value.map((item) => print(item, comma, colon, text)).join(comma)}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value).sort(([a], [b]) => compareBytes(a, b));
  return `{${members.map(([key, member]) => text(key) + colon + print(member, comma, colon, text)).join(comma)}}`;
}

/** The order of texts in Go: by their bytes in UTF-8. */
export function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
