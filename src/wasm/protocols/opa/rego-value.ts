/** Rego's values in the host: JSON whose numbers keep their text, with sets and objects with keys of any kind. */
import { quote } from "../../../data/go/quote.js";
import { JSON_MAX_DEPTH } from "../../../data/json-reader.js";
import { setKey } from "../../../data/plain-object.js";

/** A number with a fraction or an exponent, as written. Integers are a `number` when safe, else a `bigint`, however large. */
export class WrittenNumber extends Number {
  constructor(readonly text: string) {
    super(text);
  }
}

/** A set, in any order. */
export class RegoSet {
  constructor(readonly items: readonly unknown[]) {}
}

/** An object with a key that is not a text; all others are plain objects. */
export class RegoObject {
  constructor(readonly entries: readonly (readonly [key: unknown, value: unknown])[]) {}
}

/** A notation of values. */
interface Notation {
  readonly comma: string;
  readonly colon: string;
  text(value: string): string;
  number(value: unknown): string;
}

const numberText = (value: unknown): string =>
  value instanceof WrittenNumber ? value.text : Object.is(Number(value), -0) ? "-0" : String(value);
const COMPACT: Notation = { comma: ",", colon: ":", text: JSON.stringify, number: numberText };
const TERMS: Notation = { comma: ", ", colon: ": ", text: (text) => quote(text, false), number: numberText };
const EQUAL: Notation = { ...COMPACT, number: equalNumber };

/** Prints a value as JSON, with Rego's notation where JSON has none. @throws when it nests too deeply */
export const printRego = (value: unknown): string => print(value, COMPACT);

/** Prints a value as a term of Rego: blanks behind commas and colons, keys and items in order, Go's quotes. */
export const printTerm = (value: unknown): string => print(value, TERMS);

/** A text that is the same for equal values, whatever the order of keys and items and however numbers are written. */
export const equalityText = (value: unknown): string => print(value, EQUAL);

function equalNumber(value: unknown): string {
  const number = numberOf(value);
  if (typeof number === "number" && Number.isInteger(number)) return String(BigInt(number));
  return Number.isFinite(Number(number)) ? String(number) : numberText(value);
}

function print(value: unknown, notation: Notation, depth = 0): string {
  if (typeof value === "string") return notation.text(value);
  if (typeof value === "number" || typeof value === "bigint") return notation.number(value);
  if (value instanceof Number) return notation.number(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  if (depth > JSON_MAX_DEPTH) throw new Error("a value is nested too deeply");
  const { comma, colon } = notation;
  const printed = (item: unknown): string => print(item, notation, depth + 1);
  if (Array.isArray(value)) return `[${value.map(printed).join(comma)}]`;
  if (value instanceof RegoSet) {
    if (value.items.length === 0) return "set()";
    return `{${[...value.items].sort(compareTerms).map(printed).join(comma)}}`;
  }
  return `{${sortedEntries(value)
    .map(([key, member]) => printed(key) + colon + printed(member))
    .join(comma)}}`;
}

type Entry = readonly [key: unknown, value: unknown];

/** The members of an object of either kind, by their keys in Rego's order. */
export function sortedEntries(object: object): readonly Entry[] {
  if (object instanceof RegoObject) return [...object.entries].sort(([a], [b]) => compareTerms(a, b));
  return Object.entries(object).sort(([a], [b]) => compareBytes(a, b));
}

/** The value as JSON: sets are lists in order, keys are texts, others in their printed form. */
export function asJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asJson);
  if (value instanceof RegoSet) return [...value.items].sort(compareTerms).map(asJson);
  if (typeof value !== "object" || value === null || value instanceof Number) return value;
  const json: Record<string, unknown> = {};
  for (const [key, member] of sortedEntries(value))
    setKey(json, typeof key === "string" ? key : printRego(asJson(key)).replace(HTML, escaped), asJson(member));
  return json;
}

/** Characters that Go escapes in JSON because they may mean something in HTML or JavaScript. */
const HTML = /[<>&\u2028\u2029]/g;
const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** The order of texts in Go: by their bytes in UTF-8. */
export function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** Rego's order of all values: null, booleans, numbers, texts, lists, objects, sets, and within a type by content. */
export function compareTerms(a: unknown, b: unknown): number {
  const rank = rankOf(a);
  const order = rank - rankOf(b);
  if (order !== 0) return order;
  switch (rank) {
    case Rank.boolean:
      return Number(a) - Number(b);
    case Rank.number:
      return compareNumbers(a, b);
    case Rank.text:
      return compareBytes(a as string, b as string);
    case Rank.list:
      return compareLists(a as unknown[], b as unknown[]);
    case Rank.object:
      return compareLists(sortedEntries(a as object).flat(), sortedEntries(b as object).flat());
    case Rank.set:
      return compareLists([...(a as RegoSet).items].sort(compareTerms), [...(b as RegoSet).items].sort(compareTerms));
    default:
      return 0;
  }
}

const Rank = { null: 0, boolean: 1, number: 2, text: 3, list: 4, object: 5, set: 6 } as const;

function rankOf(value: unknown): number {
  if (value === null) return Rank.null;
  if (typeof value === "string") return Rank.text;
  if (typeof value === "boolean") return Rank.boolean;
  if (typeof value !== "object" || value instanceof Number) return Rank.number;
  if (Array.isArray(value)) return Rank.list;
  return value instanceof RegoSet ? Rank.set : Rank.object;
}

function compareLists(a: readonly unknown[], b: readonly unknown[]): number {
  for (const [index, left] of a.entries()) {
    if (index >= b.length) return 1;
    const order = compareTerms(left, b[index]);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function compareNumbers(a: unknown, b: unknown): number {
  const [left, right] = [numberOf(a), numberOf(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

const numberOf = (value: unknown): number | bigint => (value instanceof Number ? value.valueOf() : value) as number;
