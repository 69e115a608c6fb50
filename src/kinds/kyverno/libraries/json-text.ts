/** CEL values as JSON text, as Go's encoder writes Kyverno's conversion of them (spec kyverno.md 4.6): keys sorted, `<`, `>` and `&` escaped. */
import {
  BoundedWork,
  CelError,
  compareStrings,
  Duration,
  entriesOf,
  isDouble,
  type Kind,
  kindOf,
  ObjectValue,
  OpaqueValue,
  Optional,
  sizeOfMap,
  Timestamp,
  TypeValue,
  timestampText,
  Uint,
  type Value,
} from "../../../cel/index.js";
import { StructValue } from "../image-validating/image-data.js";
import { nativeText, WITH_TEXT } from "./native-text.js";
import { ServiceAccount } from "./user.js";

/** Units of about a nanosecond that writing one text may take: some 30 ms, for forty thousand values or four million characters. */
export const MOST_WORK = 20_000_000;
const VALUE_UNITS = 500;
const CHARACTER_UNITS = 5;
/** Work for a character that escapes add. */
const ESCAPE_UNITS = 40;
/** Characters that are escaped between two looks at the work. */
const SLICE = 2 ** 16;
/** Work of comparing two keys, when those of a map are sorted. */
const COMPARISON_UNITS = 100;
/** Work for each of their characters, as far as they begin alike. */
const COMPARED_UNITS = 2;

/** The characters that Go escapes beyond JSON's rules, so that the text may stand in HTML and in JavaScript. */
const ESCAPES = [
  ["<", "\\u003c"],
  [">", "\\u003e"],
  ["&", "\\u0026"],
  ["\u2028", "\\u2028"],
  ["\u2029", "\\u2029"],
] as const;
const ESCAPED = /[<>&\u2028\u2029]/;

/** The text, or why there is none. */
export function jsonText(value: Value): string | CelError {
  const writer = new Writer();
  const problem = writer.write(value);
  return problem ?? writer.text;
}

const tooLarge = (): CelError => new CelError("too large to become JSON", "too-large");

/** The container of a value. */
type Container = "list" | "map";

/** Writes one text (disposable). `within` is the container: the reference converts it to Go's values first, which fails for some kinds. */
class Writer {
  text = "";
  readonly #work = new BoundedWork(MOST_WORK);

  write(value: Value, within?: Container): CelError | undefined {
    this.#work.left -= VALUE_UNITS;
    if (typeof value === "string" || value instanceof Uint8Array) this.#work.left -= value.length * CHARACTER_UNITS;
    if (this.#work.left < 0) return tooLarge();
    if (value === null || typeof value === "boolean" || typeof value === "bigint") this.text += String(value);
    else if (typeof value === "string") return this.#string(value);
    else if (typeof value === "number" || value instanceof Number) return this.#number(value);
    else if (Array.isArray(value)) return this.#list(value, within);
    else return this.#object(value as Exclude<typeof value, readonly Value[]>, within);
    return undefined;
  }

  #string(text: string): CelError | undefined {
    this.text += '"';
    for (let at = 0; at < text.length; ) {
      const end = at + SLICE;
      // The halves of a surrogate pair stay together.
      const next = isFirstHalf(text.charCodeAt(end - 1)) ? end + 1 : end;
      const json = escapedText(text.slice(at, next));
      this.text += json;
      this.#work.left -= (json.length - Math.min(next, text.length) + at) * ESCAPE_UNITS;
      if (this.#work.left < 0) return tooLarge();
      at = next;
    }
    this.text += '"';
    return undefined;
  }

  // biome-ignore lint/complexity/noBannedTypes: an integral double is a Number object
  #number(value: number | Number): CelError | undefined {
    const double = value.valueOf();
    if (isDouble(value) && !Number.isFinite(double)) {
      return new CelError(`json: unsupported value: ${Number.isNaN(double) ? "NaN" : double > 0 ? "+Inf" : "-Inf"}`);
    }
    this.text += Object.is(double, -0) ? "-0" : String(double);
    return undefined;
  }

  #list(list: readonly Value[], within: Container | undefined): CelError | undefined {
    const parts = within ?? "list";
    this.text += "[";
    for (let i = 0; i < list.length; i++) {
      if (i > 0) this.text += ",";
      const problem = this.write(list[i] as Value, parts);
      if (problem !== undefined) return problem;
    }
    this.text += "]";
    return undefined;
  }

  #object(
    value: Exclude<Value, null | string | boolean | number | bigint>,
    within: Container | undefined,
  ): CelError | undefined {
    if (value instanceof Uint) this.text += String(value.value);
    else if (value instanceof Uint8Array) return this.#string(Buffer.from(value).toString("base64"));
    else if (value instanceof Timestamp) this.#string(timestampText(value));
    else if (value instanceof Duration) this.text += String(value.nanos);
    else if (value instanceof OpaqueValue && WITH_TEXT.has(value.typeName)) this.#string(value.toString());
    else if (value instanceof TypeValue || value instanceof Optional) return this.#unlikely(value, within);
    else if (value instanceof ObjectValue || value instanceof OpaqueValue) return this.#typed(value, within);
    else return this.#map(value, within);
    return undefined;
  }

  #unlikely(value: TypeValue | Optional, within: Container | undefined): CelError | undefined {
    if (value instanceof Optional && value.value !== undefined) return this.write(value.value, within);
    const problem = within === undefined ? undefined : nativeText(value);
    if (within !== undefined && problem instanceof CelError) return notConverted(within, problem);
    if (value instanceof TypeValue) this.#string(value.name);
    else this.text += "null";
    return undefined;
  }

  #map(map: Value, within: Container | undefined): CelError | undefined {
    this.#work.left -= (sizeOfMap(map) ?? 0) * VALUE_UNITS;
    if (this.#work.left < 0) return tooLarge();
    const entries: [string, Value][] = [];
    let characters = 0;
    for (const [key, member] of entriesOf(map)) {
      const text = within === undefined ? nativeText(key) : key;
      if (text instanceof CelError) return notConverted("map", text);
      if (typeof text !== "string") {
        const kind = GO_KINDS[kindOf(key)];
        return new CelError(`json: unsupported map key type ${kind} (original key type: ${kind})`);
      }
      entries.push([text, member]);
      characters += text.length * COMPARED_UNITS;
    }
    this.#work.left -= (entries.length * COMPARISON_UNITS + characters) * Math.log2(entries.length + 1);
    if (this.#work.left < 0) return tooLarge();
    entries.sort(([a], [b]) => compareStrings(a, b));
    return this.#members(entries, within ?? "map");
  }

  #members(entries: readonly (readonly [string, Value])[], within: Container | undefined): CelError | undefined {
    this.text += "{";
    for (let i = 0; i < entries.length; i++) {
      const [key, member] = entries[i] as readonly [string, Value];
      if (i > 0) this.text += ",";
      this.#work.left -= key.length * CHARACTER_UNITS;
      const unwritten = this.#string(key);
      this.text += ":";
      const problem = unwritten ?? this.write(member, within);
      if (problem !== undefined) return problem;
    }
    this.text += "}";
    return undefined;
  }

  #typed(value: ObjectValue | OpaqueValue, within: Container | undefined): CelError | undefined {
    if (within !== undefined) {
      return notConverted(within, new CelError(`type conversion error from '${value.typeName}' to 'interface {}'`));
    }
    if (value instanceof StructValue) return this.write(value.json, within);
    if (!(value instanceof ServiceAccount)) return new CelError(`a value of type ${value.typeName} has no JSON form`);
    const members: [string, Value][] = [
      ["name", value.name],
      ["namespace", value.namespace],
    ];
    const written = members.filter(([, text]) => text !== "");
    return this.#members(written, undefined);
  }
}

const isFirstHalf = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;

/** The text between the quotes. */
function escapedText(text: string): string {
  let json = JSON.stringify(text).slice(1, -1);
  if (ESCAPED.test(json)) for (const [character, written] of ESCAPES) json = json.replaceAll(character, written);
  return json;
}

/** The reference's names of the kinds of keys. */
const GO_KINDS: Readonly<Partial<Record<Kind, string>>> = {
  bool: "bool",
  double: "float64",
  int: "int64",
  uint: "uint64",
};

const notConverted = (what: Container, { message }: CelError): CelError =>
  new CelError(`json: failed to convert CEL ${what} to native ${what === "map" ? "map" : "slice"}: ${message}`);
