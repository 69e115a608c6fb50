import { setKey } from "../../data/plain-object.js";
import type { FieldPath } from "../field-error.js";
import { isObject, type JsonObject } from "../object.js";
import { type PatchMemory, REMEMBERED_SIZE } from "../patch-memory.js";
import { canonicalQuantity } from "../quantity.js";
import { normalBase64 } from "./go-base64.js";
import { printMicroTime, printTime, readMicroTime, readTime } from "./go-time.js";
import type { GoInteger, GoList, GoMap, GoSpecial, GoStruct, GoType } from "./go-type.js";
import { converterError, integerText, jsonError } from "./mismatch.js";
import { isPrinted, knownInOrder, NO_ENTRIES, type PlannedMember, planOf, printed, zero } from "./printing.js";

// Quantities as `resource.Quantity` reads and prints them: canonical, except texts that it considers canonical already.

const FORMAT_WRONG = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const NUMERIC_WRONG = "unable to parse numeric part of quantity";
const SUFFIX_WRONG = "unable to parse quantity's suffix";
const PARTS = /^([+-]?)(0*)([0-9]*)(?:(\.)([0-9]*))?([eEinumkKMGTP]*[+-]?[0-9]*)$/;
const SUFFIX = /^(?:[KMGTPE]i|[numkMGTPE]?|[eE][+-]?[0-9]+)$/;
const DECIMAL: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, "": 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const BINARY: Readonly<Record<string, number>> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };
/** Digits of any number that fits an int64. */
const INT64_DIGITS = 18;
/** Digits of a quantity with a binary suffix that are multiplied without loss; each step of 2^10 takes three. */
const BINARY_DIGITS = 14;
const LARGEST = (1n << 63n) - 1n;
const NANO = -9;

/** The quantity as it is printed, or Go's error. */
function normalQuantity(written: string): { readonly text: string } | { readonly error: string } {
  const text = written.trim();
  const parts = PARTS.exec(text);
  if (text === "" || parts === null) return { error: FORMAT_WRONG };
  const [, sign = "", zeros = "", significant = "", point = "", fraction = "", suffix = ""] = parts;
  if (!SUFFIX.test(suffix)) return { error: SUFFIX_WRONG };
  const whole = significant || "0";
  const read = readQuickly(whole, fraction, suffix);
  if (read === "as it is") return { text };
  if (read === "slowly" && zeros + significant + fraction === "") return { error: NUMERIC_WRONG };
  return { text: canonicalQuantity(`${sign}${whole}${point}${fraction}${suffix}`) };
}

/** Reads short quantities as Go does, in a way of its own: it keeps the text of those that it then considers canonical, such as `+5` and `1.500`. */
function readQuickly(whole: string, fraction: string, suffix: string): "as it is" | "quickly" | "slowly" {
  const digits = `${whole}${fraction}`;
  const binary = BINARY[suffix];
  if (binary !== undefined) {
    if (fraction !== "" || BINARY_DIGITS - whole.length - Math.trunc((binary * 3) / 10) < 0) return "slowly";
    const value = BigInt(whole);
    if (value << BigInt(binary) > LARGEST) return "slowly";
    return (value & 7n) !== 0n ? "as it is" : "quickly";
  }
  const scale = (DECIMAL[suffix] ?? Number(suffix.slice(1))) - fraction.length;
  if (digits.length > INT64_DIGITS || scale < NANO) return "slowly";
  return scale % 3 === 0 && !digits.endsWith("000") && !digits.startsWith("0") ? "as it is" : "quickly";
}

/**
 * The reader: `json`, the decoder of requests and files (sigs.k8s.io/json), or `converter`, which turns values into structs within the server
 * (runtime.DefaultUnstructuredConverter.FromUnstructured): it cuts integers that are too large, and words its errors in another way.
 */
export type Reader = "json" | "converter";

/** An error, and its place. */
export interface Mistake {
  readonly error: string;
  readonly path: FieldPath;
}

/** Most unknown members that are reported. */
const MAX_UNKNOWN = 100;

/**
 * Gives a value the form in which Go prints it after it was decoded into its struct: one pass, one object (disposable). Lists and maps that have that form
 * already are used as they are; with a memory structs are, too, and known parts are not checked again.
 */
export class Shaping {
  /** Members that the struct does not have, each once, in the order of the text. */
  readonly unknown: FieldPath[] = [];
  readonly #reader: Reader;
  /** The decoder's first mistake: it continues, and reports it at the end. */
  #error: Mistake | undefined;
  /** The mistake of a type that reads itself, at which the decoder stops, whatever it has found before; the converter stops at any. */
  #fatal: Mistake | undefined;
  /** The struct that is being decoded, and the members on the way to its value, as Go's messages name them. */
  #struct = "";
  readonly #places: string[] = [];
  /** The same path with indexes and keys of maps, by which unknown members are named. */
  readonly #path: (string | number)[] = [];
  readonly #memory: PatchMemory | undefined;

  constructor(reader: Reader, memory?: PatchMemory) {
    this.#reader = reader;
    this.#memory = memory;
  }

  /** The error of the value. */
  get mistake(): Mistake | undefined {
    return this.#fatal ?? this.#error;
  }

  /** The printed form of a value that is not null. */
  shape(value: unknown, type: GoType): unknown {
    switch (type.kind) {
      case "struct":
        return isObject(value) ? this.#members(value, type) : this.#mismatch(value, type);
      case "pointer":
        return this.shape(value, type.element);
      case "list":
        return Array.isArray(value) ? this.#items(value, type) : this.#mismatch(value, type);
      case "map":
        return isObject(value) ? this.#entries(value, type) : this.#mismatch(value, type);
      case "string":
        return typeof value === "string" ? value : this.#mismatch(value, type);
      case "bool":
        return typeof value === "boolean" ? value : this.#mismatch(value, type);
      case "integer":
        return this.#integer(value, type);
      case "bytes":
        return this.#bytes(value, type);
      default:
        return this.#special(value, type);
    }
  }

  /** A value that may be null or absent, which is the zero value. */
  #orZero(value: unknown, type: GoType): unknown {
    return value === null || value === undefined ? zero(type) : this.shape(value, type);
  }

  #members(value: JsonObject, type: GoStruct): JsonObject {
    const outer = this.#struct;
    const plan = planOf(type);
    const read = new Array<unknown>(plan.members.length);
    const keys = Object.keys(value);
    // The decoder follows the text, the converter the struct.
    for (const key of this.#reader === "json" ? keys : knownInOrder(keys, plan)) {
      const place = plan.places.get(key);
      if (place === undefined) {
        this.#isUnknown(key);
        continue;
      }
      const written = value[key];
      if (written === null || written === undefined) continue;
      const { member } = plan.members[place] as PlannedMember;
      this.#struct = type.go;
      this.#places.push(member.place);
      this.#path.push(key);
      read[place] = this.shape(written, member.type);
      if (this.#fatal !== undefined) return {};
      this.#path.pop();
      this.#places.pop();
    }
    this.#struct = outer;
    return this.#memory !== undefined && isPrinted(value, keys, plan, read) ? value : printed(plan, read);
  }

  #items(value: readonly unknown[], type: GoList): readonly unknown[] {
    const { element } = type;
    const shaped = value.length < REMEMBERED_SIZE ? undefined : this.#memory?.shaped;
    if (shaped?.get(value) === type) return value;
    let items: unknown[] | undefined;
    for (let i = 0; i < value.length; i++) {
      const written = value[i];
      const known = typeof written === "object" && written !== null && shaped?.get(written) === element;
      this.#path.push(i);
      const item = known ? written : this.#orZero(written, element);
      this.#path.pop();
      if (shaped !== undefined && !known && typeof item === "object" && item !== null) shaped.set(item, element);
      if (items === undefined && !Object.is(item, written)) items = value.slice(0, i);
      items?.push(item);
    }
    shaped?.set(items ?? value, type);
    return items ?? value;
  }

  #entries(value: JsonObject, type: GoMap): JsonObject {
    const { element } = type;
    const shaped = this.#memory?.shaped;
    if (shaped?.get(value) === type) return value;
    const keys = Object.keys(value);
    if (keys.length === 0) return NO_ENTRIES;
    const entries = withValues(value, keys, (written, key) =>
      element.kind === "string" && typeof written === "string" ? written : this.#entry(key, written, element),
    );
    if (keys.length >= REMEMBERED_SIZE) shaped?.set(entries, type);
    return entries;
  }

  #entry(key: string, value: unknown, element: GoType): unknown {
    this.#path.push(key);
    const made = this.#orZero(value, element);
    this.#path.pop();
    return made;
  }

  #integer(value: unknown, type: GoInteger): unknown {
    const inConverter = this.#reader === "converter";
    const number = inConverter ? convertedInteger(value) : integerOf(value);
    if (number === undefined) return this.#mismatch(value, type);
    const cut = BigInt.asIntN(type.bits, BigInt(number));
    if (cut === BigInt(number)) return number;
    return inConverter ? plain(cut) : this.#mismatch(value, type);
  }

  /** Octets, from base64 or a list of numbers. */
  #bytes(value: unknown, type: GoType): unknown {
    if (typeof value === "string") {
      const read = normalBase64(value);
      if ("text" in read) return read.text;
      // The decoder continues after it, as after a wrong type.
      if (this.#reader === "converter") return this.#stopped(`error decoding from json: ${read.error}`);
      this.#error ??= this.#here(read.error);
      return null;
    }
    if (!Array.isArray(value)) return this.#mismatch(value, type);
    const octets = value.map((item: unknown) => this.#octet(item));
    return this.mistake === undefined ? Buffer.from(octets).toString("base64") : null;
  }

  #octet(item: unknown): number {
    if (item === null) return 0;
    const octet = integerOf(item);
    if (typeof octet === "number" && (this.#reader === "converter" || (octet >= 0 && octet <= OCTET_MAX))) return octet;
    this.#mismatch(item, OCTET);
    return 0;
  }

  #special(value: unknown, type: GoSpecial): unknown {
    switch (type.kind) {
      case "Time": {
        const time = typeof value === "string" ? readTime(value) : this.#stop(value, "string");
        return time === null || "error" in time ? this.#stopped(time?.error) : printTime(time);
      }
      case "MicroTime": {
        const time = typeof value === "string" ? readMicroTime(value) : this.#stop(value, "string");
        return time === null || "error" in time ? this.#stopped(time?.error) : printMicroTime(time);
      }
      case "Quantity": {
        const quantity = normalQuantity(quantityText(value));
        return "error" in quantity ? this.#stopped(quantity.error) : quantity.text;
      }
      case "IntOrString": {
        if (typeof value === "string") return value;
        const number = integerOf(value);
        if (number === undefined || BigInt.asIntN(32, BigInt(number)) !== BigInt(number))
          return this.#stop(value, "int32");
        return number;
      }
      default:
        return integers(value);
    }
  }

  #isUnknown(key: string): void {
    if (this.unknown.length < MAX_UNKNOWN) this.unknown.push([...this.#path, key]);
  }

  #here(error: string): Mistake {
    return { error, path: [...this.#path] };
  }

  #mismatch(value: unknown, type: GoType): null {
    if (this.#reader === "converter") return this.#stopped(converterError(value, type));
    this.#error ??= this.#here(jsonError(value, type.go, this.#struct, this.#places));
    return null;
  }

  /** The error of a type that reads itself, for a value that it never accepts. */
  #stop(value: unknown, go: string): null {
    return this.#stopped(jsonError(value, go, this.#reader === "converter" ? "" : this.#struct, this.#places));
  }

  #stopped(error: string | undefined): null {
    if (error !== undefined) this.#fatal ??= this.#here(error);
    return null;
  }
}

const OCTET_MAX = 255;
const OCTET: GoInteger = { kind: "integer", go: "uint8", bits: 8 };

/** A whole number in any notation; a double is one only where it is exact. */
function integerOf(value: unknown): number | bigint | undefined {
  const number = value instanceof Number ? value.valueOf() : value;
  if (typeof number === "bigint") return number;
  // 0 instead of -0, which is not an integer.
  return typeof number === "number" && Number.isSafeInteger(number) ? number || 0 : undefined;
}

/** An integer by the converter's rules: any double without a fraction; one that an int64 cannot hold becomes the least int64. */
function convertedInteger(value: unknown): number | bigint | undefined {
  if (typeof value !== "number" || !Number.isInteger(value) || Number.isSafeInteger(value)) return integerOf(value);
  const whole = BigInt(value);
  return BigInt.asIntN(INT64_BITS, whole) === whole ? whole : -(1n << BigInt(INT64_BITS - 1));
}

const INT64_BITS = 64;

const plain = (value: bigint): number | bigint =>
  BigInt.asIntN(54, value) === value && Number.isSafeInteger(Number(value)) ? Number(value) : value;

/** The text for a quantity's reader: the text, or a number as it is written; anything else is not a quantity. */
const quantityText = (value: unknown): string =>
  typeof value === "string" ? value : (integerText(value) ?? (typeof value === "number" ? String(value) : "{"));

/** JSON that is kept as it is, printed and read again: a double without a fraction becomes an integer. A value without one is not copied. */
function integers(value: unknown): unknown {
  if (value instanceof Number) return integerOf(value) ?? value;
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value.map(integers);
    return items.every((item, i) => Object.is(item, value[i])) ? value : items;
  }
  if (!isObject(value)) return value;
  return withValues(value, Object.keys(value), integers);
}

/** A map with converted values: the map itself if none has changed. */
function withValues(
  map: JsonObject,
  keys: readonly string[],
  make: (value: unknown, key: string) => unknown,
): JsonObject {
  let copy: Record<string, unknown> | undefined;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string;
    const made = make(map[key], key);
    if (copy === undefined) {
      if (Object.is(made, map[key])) continue;
      copy = {};
      for (const earlier of keys.slice(0, i)) setKey(copy, earlier, map[earlier]);
    }
    setKey(copy, key, made);
  }
  return copy ?? map;
}
