/** CEL values as JSON text, as Go's encoder writes what Kyverno makes of them (spec kyverno.md 4.6): keys sorted, `<`, `>` and `&` escaped. */
import {
  BoundedWork,
  CelError,
  compareStrings,
  Duration,
  entriesOf,
  isDouble,
  kindOf,
  ObjectValue,
  OpaqueValue,
  Optional,
  Timestamp,
  TypeValue,
  timestampText,
  typeNameOf,
  Uint,
  type Value,
} from "../../../cel/index.js";
import { ServiceAccount } from "./user.js";

/**
 * Units of about a nanosecond that writing one text may take: some 50 ms. That is several times what the largest request needs that is mostly
 * texts; one of nothing but short numbers may have a quarter of a million.
 */
export const MOST_WORK = 50_000_000;
const VALUE_UNITS = 200;
const CHARACTER_UNITS = 5;

const ESCAPED = /[<>&\u2028\u2029]/g;

/** The text, or why there is none. */
export function jsonText(value: Value): string | CelError {
  const writer = new Writer();
  const problem = writer.write(value, true);
  return problem ?? writer.text;
}

/** Writes one text (disposable). */
class Writer {
  text = "";
  readonly #work = new BoundedWork(MOST_WORK);

  /** @param top whether it is the value itself, and no part of it: of maps the reference then says so in other words */
  write(value: Value, top = false): CelError | undefined {
    this.#work.left -= VALUE_UNITS;
    if (this.#work.left < 0) return new CelError("too large to become JSON", "too-large");
    if (value === null || typeof value === "boolean" || typeof value === "bigint") this.text += String(value);
    else if (typeof value === "string") this.#string(value);
    else if (typeof value === "number" || value instanceof Number) return this.#number(value);
    else if (Array.isArray(value)) return this.#list(value);
    else return this.#object(value as Exclude<typeof value, readonly Value[]>, top);
    return undefined;
  }

  #string(text: string): void {
    this.#work.left -= text.length * CHARACTER_UNITS;
    this.text += JSON.stringify(text).replace(ESCAPED, escaped);
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

  #list(list: readonly Value[]): CelError | undefined {
    this.text += "[";
    for (let i = 0; i < list.length; i++) {
      if (i > 0) this.text += ",";
      const problem = this.write(list[i] as Value);
      if (problem !== undefined) return problem;
    }
    this.text += "]";
    return undefined;
  }

  #object(value: Exclude<Value, null | string | boolean | number | bigint>, top: boolean): CelError | undefined {
    if (value instanceof Uint || value instanceof TypeValue) return this.#plain(value);
    if (value instanceof Uint8Array) this.#string(Buffer.from(value).toString("base64"));
    else if (value instanceof Timestamp) this.#string(timestampText(value));
    else if (value instanceof Duration) this.text += String(value.nanos);
    else if (value instanceof Optional) return this.write(value.value ?? null);
    else if (value instanceof OpaqueValue) this.#string(value.toString());
    else if (value instanceof ObjectValue) return this.#typed(value);
    else return this.#map(value, top);
    return undefined;
  }

  #plain(value: Uint | TypeValue): undefined {
    if (value instanceof Uint) this.text += String(value.value);
    else this.#string(value.name);
  }

  #map(map: Value, top: boolean): CelError | undefined {
    const entries: [string, Value][] = [];
    for (const [key, member] of entriesOf(map)) {
      if (typeof key !== "string") return unusableKey(key, top);
      entries.push([key, member]);
    }
    entries.sort(([a], [b]) => compareStrings(a, b));
    return this.#members(entries);
  }

  #members(entries: readonly (readonly [string, Value])[]): CelError | undefined {
    this.text += "{";
    for (let i = 0; i < entries.length; i++) {
      const [key, member] = entries[i] as readonly [string, Value];
      if (i > 0) this.text += ",";
      this.#string(key);
      this.text += ":";
      const problem = this.write(member);
      if (problem !== undefined) return problem;
    }
    this.text += "}";
    return undefined;
  }

  #typed(value: ObjectValue): CelError | undefined {
    if (!(value instanceof ServiceAccount)) return new CelError(`a value of type ${value.typeName} has no JSON form`);
    const members: [string, Value][] = [
      ["name", value.name],
      ["namespace", value.namespace],
    ];
    return this.#members(members.filter(([, text]) => text !== ""));
  }
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** The names that the reference's program has for its types of keys. */
const GO_KEY_TYPES: Readonly<Record<string, readonly [native: string, own: string]>> = {
  int: ["int64", "types.Int"],
  uint: ["uint64", "types.Uint"],
  bool: ["bool", "types.Bool"],
  double: ["float64", "types.Double"],
};

function unusableKey(key: Value, top: boolean): CelError {
  if (top) {
    const reason = `unsupported type conversion from '${typeNameOf(key)}' to 'string'`;
    return new CelError(`json: failed to convert CEL map to native map: ${reason}`);
  }
  const [native, own] = GO_KEY_TYPES[kindOf(key)] ?? ["", ""];
  return new CelError(`json: unsupported map key type ${native} (original key type: ${own})`);
}
