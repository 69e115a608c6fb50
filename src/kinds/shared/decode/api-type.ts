/**
 * Decodes JSON strictly into Kubernetes' Go types, with the API server's words for errors: unknown members,
 * and values of the wrong JSON type (spec validating-admission-policy.md 1.5).
 */
import { type FieldPath, formatPath, goQuote } from "../../../kubernetes/field-error.js";
import { isObject } from "../../../kubernetes/object.js";

/** A Go type, as far as decoding needs it. `go` is its name in messages. */
export type ApiType =
  | { readonly kind: "string"; readonly go: string }
  | { readonly kind: "integer"; readonly go: string }
  | { readonly kind: "boolean"; readonly go: string }
  | { readonly kind: "any" }
  /** A string that its type parses: a parse error is the only mistake reported, and has no place. */
  | {
      readonly kind: "parsed";
      readonly go: string;
      readonly error: (text: string) => string | undefined;
      /** The type of a list in place of the string. */
      readonly list?: ApiType;
    }
  | { readonly kind: "list"; readonly element: ApiType; readonly go: string }
  | { readonly kind: "map"; readonly value: ApiType; readonly go: string }
  | {
      readonly kind: "struct";
      readonly go: string;
      readonly fields: Readonly<Record<string, ApiType>>;
      /** For members of a nested struct: its Go name, and those around it, which Go's errors name. */
      readonly inside?: Readonly<Record<string, readonly string[]>>;
    };

/** A string, or a named string type. */
export const string = (go = "string"): ApiType => ({ kind: "string", go });
export const integer = { kind: "integer", go: "int64" } as const satisfies ApiType;
export const boolean: ApiType = { kind: "boolean", go: "bool" };
/** A string that is parsed; `error` gives the error of a text, and a `list` may stand in its place. */
export const parsed = (error: (text: string) => string | undefined, list?: ApiType): ApiType => ({
  kind: "parsed",
  go: "string",
  error,
  ...(list && { list }),
});
/** Any value; decoded elsewhere. */
export const any: ApiType = { kind: "any" };
export const list = (element: ApiType): ApiType => ({ kind: "list", element, go: `[]${goName(element)}` });
export const map = (value: ApiType): ApiType => ({ kind: "map", value, go: `map[string]${goName(value)}` });
/** A struct; `go` with its package, such as `v1.Validation`. */
export const struct = (
  go: string,
  fields: Readonly<Record<string, ApiType>>,
  inside?: Readonly<Record<string, readonly string[]>>,
): ApiType & { readonly kind: "struct" } => ({ kind: "struct", go, fields, ...(inside && { inside }) });

const goName = (type: ApiType): string => (type.kind === "any" ? "interface {}" : type.go);

/** Why a value cannot be decoded. */
export interface DecodeFailure {
  /** The text behind `cannot be handled as a <Kind>: `. */
  readonly text: string;
  /** The place of the first error. */
  readonly path: FieldPath;
  /** All unknown members; none when a value has the wrong type. */
  readonly unknown: readonly FieldPath[];
}

/** The decoded value, without nulls; or why not. */
export type Decoded =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly failure: DecodeFailure };

/** Decodes a value strictly. A wrong type takes precedence over unknown members, of which all are reported. */
export function decode(value: unknown, type: ApiType): Decoded {
  const decoder = new Decoder();
  const decoded = decoder.decode(value, type, [], undefined);
  if (decoder.wrongType !== undefined) return { ok: false, failure: decoder.wrongType };
  const [first] = decoder.unknown;
  if (first === undefined) return { ok: true, value: decoded };
  const fields = decoder.unknown.map((path) => `unknown field ${goQuote(formatPath(path))}`);
  return {
    ok: false,
    failure: { text: `strict decoding error: ${fields.join(", ")}`, path: first, unknown: decoder.unknown },
  };
}

/** The readable part of a value, and all errors. */
export interface Salvaged {
  /** The value without its errors: unknown members are dropped, and values of the wrong type are empty. */
  readonly value: unknown;
  /** The errors in the order of the document; each in the words that it would have alone. */
  readonly mistakes: readonly Misread[];
}

/** A decoding error. */
export interface Misread {
  readonly path: FieldPath;
  readonly text: string;
  /** For an unknown member: the known ones. */
  readonly members?: readonly string[];
}

/** Decodes as much of a value as possible, so that all errors can be corrected at once. */
export function salvage(value: unknown, type: ApiType): Salvaged {
  const decoder = new Decoder();
  const salvaged = decoder.decode(value, type, [], undefined);
  return { value: salvaged, mistakes: decoder.mistakes };
}

/** Decodes a value as Go's plain decoder does: unknown members are dropped. */
export function decodeLeniently(value: unknown, type: ApiType): Decoded {
  const decoder = new Decoder();
  const decoded = decoder.decode(value, type, [], undefined);
  return decoder.wrongType === undefined ? { ok: true, value: decoded } : { ok: false, failure: decoder.wrongType };
}

class Decoder {
  wrongType: DecodeFailure | undefined;
  readonly unknown: FieldPath[] = [];
  readonly mistakes: Misread[] = [];
  #stopped = false;
  /** The indexes in the current path that are keys of maps. */
  readonly #keys: number[] = [];
  /** Nested structs, by the place of their members in the current path. */
  readonly #inside = new Map<number, readonly string[]>();

  decode(value: unknown, type: ApiType, path: FieldPath, owner: string | undefined): unknown {
    if (value === null || value === undefined) return undefined;
    switch (type.kind) {
      case "any":
        return value;
      case "string":
      case "boolean":
        return typeof value === type.kind ? value : this.#fail(value, type.go, path, owner);
      case "parsed":
        if (type.list && Array.isArray(value)) return this.decode(value, type.list, path, owner);
        return this.#parsed(value, type, path, owner);
      case "integer":
        return isInt64(value) && (type.go !== "uint8" || isOctet(value))
          ? value
          : this.#fail(value, type.go, path, owner);
      case "list":
        if (!Array.isArray(value)) return this.#fail(value, type.go, path, owner);
        return value.map((item, i) => this.decode(item, type.element, [...path, i], owner) ?? zeroOf(type.element));
      case "map":
        if (!isObject(value)) return this.#fail(value, type.go, path, owner);
        return Object.fromEntries(
          Object.entries(value).map(([key, item]) => [
            key,
            this.#inMap(item, type.value, [...path, key], owner) ?? zeroOf(type.value),
          ]),
        );
      case "struct":
        if (!isObject(value)) return this.#fail(value, type.go, path, owner);
        return this.#struct(value, type, path);
    }
  }

  /** Decodes an item of a map. Go's decoder reports members, not keys: an error in a map is reported of the map. */
  #inMap(item: unknown, type: ApiType, path: FieldPath, owner: string | undefined): unknown {
    this.#keys.push(path.length - 1);
    const decoded = this.decode(item, type, path, owner);
    this.#keys.pop();
    return decoded;
  }

  /** Decodes a parsed type: Go's decoder stops at the first parse error, whatever it has found before. */
  #parsed(
    value: unknown,
    type: ApiType & { readonly kind: "parsed" },
    path: FieldPath,
    owner: string | undefined,
  ): unknown {
    if (this.#stopped) return undefined;
    const text = typeof value === "string" ? type.error(value) : undefined;
    if (typeof value === "string" && text === undefined) return value;
    this.wrongType = undefined;
    if (text === undefined) this.#fail(value, type.go, path, owner);
    else {
      this.wrongType = { text, path, unknown: [] };
      this.mistakes.push({ path, text });
    }
    this.#stopped = true;
    return undefined;
  }

  #struct(
    value: Readonly<Record<string, unknown>>,
    { fields, go, inside }: ApiType & { readonly kind: "struct" },
    path: FieldPath,
  ): Record<string, unknown> {
    const decoded: Record<string, unknown> = {};
    for (const [key, item] of Object.entries(value)) {
      const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
      if (field === undefined) {
        const at = [...path, key];
        this.unknown.push(at);
        const text = `strict decoding error: unknown field ${goQuote(formatPath(at))}`;
        this.mistakes.push({ path: at, text, members: Object.keys(fields) });
        continue;
      }
      this.#inside.set(path.length, inside?.[key] ?? []);
      const inner = this.decode(item, field, [...path, key], go);
      if (inner !== undefined) decoded[key] = inner;
    }
    return decoded;
  }

  /** Reports an error. Go's decoder names the struct and the path of members, without indexes and keys, and continues: the first failure is reported. */
  #fail(value: unknown, go: string, path: FieldPath, owner: string | undefined): undefined {
    const members = path.flatMap((part, i) =>
      typeof part !== "string" || this.#keys.includes(i) ? [] : [...(this.#inside.get(i) ?? []), part],
    );
    const place = owner === undefined ? "" : ` field ${owner.slice(owner.indexOf(".") + 1)}.${members.join(".")}`;
    const text = `json: cannot unmarshal ${jsonKind(value, go)} into Go ${owner === undefined ? "value" : "struct"}${place} of type ${go}`;
    this.wrongType ??= { text, path, unknown: [] };
    this.mistakes.push({ path, text });
    return undefined;
  }
}

/** A number that Go's int64 holds. A larger one that a double holds exactly is a bigint here. */
const isInt64 = (value: unknown): boolean =>
  typeof value === "bigint"
    ? BigInt.asIntN(64, value) === value
    : typeof value === "number" && Number.isSafeInteger(value);

const isOctet = (value: unknown): boolean => typeof value === "number" && value >= 0 && value <= 255;

function zeroOf(type: ApiType): unknown {
  switch (type.kind) {
    case "string":
    case "parsed":
      return "";
    case "integer":
      return 0;
    case "boolean":
      return false;
    case "list":
      return [];
    default:
      return {};
  }
}

/** JSON's name for a value's type; a number that does not fit an integer is printed itself. */
function jsonKind(value: unknown, go: string): string {
  if (typeof value === "boolean") return "bool";
  if (typeof value === "string") return "string";
  if (Array.isArray(value)) return "array";
  if (isObject(value)) return "object";
  return go.startsWith("int") ? `number ${String(value)}` : "number";
}
