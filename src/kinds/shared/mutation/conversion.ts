/** Converts the results of mutations as the server does: to JSON for patches, to Go values for apply configurations (spec mutating-admission-policy.md 5 to 7). */

import {
  type Behaviour,
  CelError,
  type Duration,
  doubleOf,
  durationText,
  EmptyMessage,
  type Kind,
  kindOf,
  ListSum,
  MadeList,
  MapValue,
  type ObjectValue,
  type OpaqueValue,
  Optional,
  type Timestamp,
  timestampText,
  type Uint,
  type Value,
} from "../../../cel/index.js";
import { quote, quoteCharacter } from "../../../data/go/quote.js";
import { setKey } from "../../../data/plain-object.js";
import type { GoType } from "../../../kubernetes/go-types/go-type.js";
import { type ForeignValue, NIL_LIST, type PatchValue } from "../../../kubernetes/structured-merge/patch-value.js";
import { VARIABLES_TYPE } from "../dialect.js";
import { goValue } from "./go-value.js";
import { finite, patchLeaf, structLeaf, TARGET } from "./leaves.js";
import { JsonPatchVal, membersOf, ObjectVal } from "./mutation-types.js";
import { selectedItem } from "./selected-field.js";
import { REQUEST_TYPE } from "./typed-values.js";

/**
 * Most size of one mutation's result, in characters of its texts, 16 for each value and 64 for each name of a member: more than an object that the API server
 * keeps (1.5 MiB, 25 characters or so for each member), and some 50 ms of work. A short expression can name one large object many thousand times.
 */
export const MUTATION_MAX_SIZE = 8_388_608;
const VALUE_SIZE = 16;
/** The size of a member's name: adding a member to a large object takes several times as long as adding an item to a list. */
const NAME_SIZE = 64;

/** The origin of values that look alike here and are of different types in Go. */
export interface Provenance {
  /** The type of a list, map or struct that is Go's own, not JSON. */
  readonly typeOf: (value: object) => GoType | undefined;
}

/** Converts the result of one mutation (disposable). */
export class Conversion {
  readonly #provenance: Provenance;
  #room = MUTATION_MAX_SIZE;
  /** Converted data, kept since an expression may name it many times. */
  readonly #known = new Map<object, { readonly made: unknown; readonly size: number }>();

  /** The sizes of values that only messages show. */
  readonly #shown = new Map<object, number>();

  /** Whether an object that cannot be converted fails the one that it is a field of; until 1.38 the error is a value there. */
  readonly #failsWhole: boolean;

  constructor(provenance: Provenance, behaviour: Behaviour = "1.37") {
    this.#provenance = provenance;
    this.#failsWhole = behaviour === "1.38";
  }

  /** A value as JSON, in protobuf's `Value` form. Errors are the server's, without its prefix. */
  json(value: Value): unknown | CelError {
    if (!this.#take(value)) return tooLarge();
    switch (kindOf(value)) {
      case "int":
        return Number.isSafeInteger(value) ? value : String(value);
      case "uint": {
        const integer = (value as Uint).value;
        return Number.isSafeInteger(integer) ? integer : String(integer);
      }
      case "double":
        return finite(doubleOf(value) as number);
      case "bytes":
        return Buffer.from(value as Uint8Array).toString("base64");
      case "timestamp":
        return timestampText(value as Timestamp);
      case "duration":
        return durationText(value as Duration);
      case "optional": {
        const content = (value as Optional).value;
        return content === undefined ? new CelError("optional.none() dereference") : this.json(content);
      }
      case "list":
      case "map":
        return this.#once(value as object, () => this.#jsonContainer(value as object));
      case "object":
        return this.#jsonObject(value as ObjectValue);
      case "type":
        return new CelError("type conversion not supported for 'type'");
      case "opaque":
        return new CelError(`type conversion error from '${nameOf(value as OpaqueValue)}' to '${TARGET}'`);
      default:
        return value;
    }
  }

  /** The Go values of an `Object`. */
  configuration(object: ObjectVal): { readonly [field: string]: PatchValue } | CelError {
    return this.#fields(object, patchLeaf);
  }

  #take(value: Value): boolean {
    this.#room -= typeof value === "string" || value instanceof Uint8Array ? VALUE_SIZE + value.length : VALUE_SIZE;
    return this.#room >= 0;
  }

  #takeName(name: Value): boolean {
    this.#room -= NAME_SIZE + (name as string).length;
    return this.#room >= 0;
  }

  /**
   * Takes the room for the contents of a value that only messages show. They show little of it, but read the names of whole objects, and an expression may
   * name the value many times.
   */
  #takeInside(value: Value): boolean {
    const isList = Array.isArray(value);
    if (!isList && kindOf(value) !== "map") return true;
    const known = this.#shown.get(value as object);
    if (known !== undefined) {
      this.#room -= known;
      return this.#room >= 0;
    }
    const before = this.#room;
    const entries = isList ? (value as readonly Value[]).entries() : this.#entries(value);
    if (entries instanceof CelError) return false;
    for (const [key, item] of entries) {
      if (!isList && typeof key === "string" && !this.#takeName(key)) return false;
      if (!this.#take(item) || !this.#takeInside(item)) return false;
    }
    this.#shown.set(value as object, before - this.#room);
    return true;
  }

  /** A map's entries; one that is too large is refused before any entry is converted. */
  #entries(map: Value): Iterable<readonly [Value, Value]> | CelError {
    if (map instanceof MapValue) return map.entries();
    const members = map as { readonly [name: string]: Value };
    const names = Object.keys(members);
    if (this.#room < names.length * (NAME_SIZE + VALUE_SIZE)) return tooLarge();
    return names.map((name) => [name, members[name] as Value] as const);
  }

  /** Converts a value once; a repeated one takes its room again. */
  #once<T>(value: object, make: () => T | CelError): T | CelError {
    const known = this.#known.get(value);
    if (known !== undefined) {
      this.#room -= known.size;
      return this.#room < 0 ? tooLarge() : (known.made as T);
    }
    const before = this.#room;
    const made = make();
    if (!(made instanceof CelError)) this.#known.set(value, { made, size: before - this.#room });
    return made;
  }

  #list<T>(list: readonly Value[], convert: (item: Value) => T | CelError): readonly T[] | CelError {
    if (this.#room < list.length * VALUE_SIZE) return tooLarge();
    const items: T[] = [];
    for (const item of list) {
      const converted = convert(item);
      if (converted instanceof CelError) return converted;
      items.push(converted);
    }
    return items;
  }

  #jsonContainer(value: object): unknown | CelError {
    const type = value instanceof MapValue ? undefined : this.#provenance.typeOf(value);
    if (type !== undefined) return new CelError(typedError(type));
    if (!Array.isArray(value)) return this.#jsonMap(value as Value);
    if (!(value instanceof ListSum)) return this.#list(value, (item: Value) => this.json(item));
    // The contents of a sum are converted to Go and back before they become JSON.
    return this.#list(value, (item) => {
      const back = selectedItem(item, membersOf);
      return back instanceof CelError ? back : this.json(back);
    });
  }

  #jsonMap(map: Value): unknown | CelError {
    const result: Record<string, unknown> = {};
    const entries = this.#entries(map);
    if (entries instanceof CelError) return entries;
    for (const [key, item] of entries) {
      if (typeof key !== "string") return new CelError(KEY_ERRORS[kindOf(key)] ?? "");
      if (!this.#takeName(key)) return tooLarge();
      const converted = this.json(item);
      if (converted instanceof CelError) return converted;
      setKey(result, key, converted);
    }
    return result;
  }

  #jsonObject(object: ObjectValue): unknown | CelError {
    if (object instanceof ObjectVal) return this.#fields(object, structLeaf);
    if (object instanceof EmptyMessage) return {};
    if (object.typeName === VARIABLES_TYPE) return new CelError(`disallowed conversion from "${VARIABLES_TYPE}" to ""`);
    if (object instanceof JsonPatchVal) return new CelError(`cannot convert to native type: ${TARGET}`);
    return new CelError(`type conversion error from '${object.typeName}' to '${TARGET}'`);
  }

  /** The fields of an `Object`; a value that no leaf can be made of is an error. */
  #fields<T>(object: ObjectVal, leaf: Leaf<T>): { readonly [field: string]: T } | CelError {
    const result: Record<string, T> = {};
    for (const [name, value] of object.members) {
      if (!this.#takeName(name)) return tooLarge();
      const converted = this.#field(value, leaf);
      if (converted instanceof Failed) {
        return new CelError(`fail to convert field ${quote(name, false)}: ${converted.message}`, "conversion");
      }
      if (converted instanceof CelError) return converted;
      setKey(result as Record<string, unknown>, name, converted);
    }
    return result;
  }

  /** A field's value: its own lists and maps are converted, while the contents of nested literals are only unwrapped. */
  #field<T>(value: Value, leaf: Leaf<T>): T | CelError | Failed {
    if (!this.#take(value)) return tooLarge();
    const kind = kindOf(value);
    if (kind === "list") return this.#listField(value as readonly Value[], leaf);
    if (kind === "map") return this.#mapField(value, leaf);
    if (value instanceof ObjectVal && this.#failsWhole) return this.#fields(value, leaf) as T | CelError;
    // Their names are numbers to the server.
    if (kind === "object" && (value as ObjectValue).typeName === VARIABLES_TYPE) return new Failed(keyFailure(1));
    if (kind === "optional") {
      // An optional's value that is not a literal stays as it is.
      let content = (value as Optional).value;
      while (content instanceof Optional) content = content.value;
      if (content instanceof MapValue) return this.#mapField(content, leaf);
      if (content instanceof MadeList && !(content instanceof ListSum)) return this.#listField(content, leaf);
    }
    return this.#bare(value, leaf);
  }

  #listField<T>(list: readonly Value[], leaf: Leaf<T>): T | CelError | Failed {
    // A sum is not a literal: its contents are converted like those of data.
    const inner =
      list instanceof ListSum || !(list instanceof MadeList)
        ? (item: Value): T | CelError | Failed => this.#field(item, leaf)
        : (item: Value): T | CelError => this.#bare(item, leaf);
    if (list.length === 0) return NIL_LIST as T;
    if (this.#room < list.length * VALUE_SIZE) return tooLarge();
    const items: unknown[] = [];
    for (const item of list) {
      const converted = inner(item);
      if (converted instanceof CelError || converted instanceof Failed) return converted;
      items.push(converted);
    }
    return items as T;
  }

  #mapField<T>(map: Value, leaf: Leaf<T>): T | CelError | Failed {
    const literal = map instanceof MapValue;
    const result: Record<string, unknown> = {};
    const entries = this.#entries(map);
    if (entries instanceof CelError) return entries;
    for (const [key, item] of entries) {
      if (typeof key !== "string") return new Failed(keyFailure(key));
      if (!this.#takeName(key)) return tooLarge();
      const converted = literal ? this.#bare(item, leaf) : this.#field(item, leaf);
      if (converted instanceof CelError || converted instanceof Failed) return converted;
      setKey(result, key, converted);
    }
    if (!literal && this.#provenance.typeOf(map as object)?.go === REQUEST_TYPE) {
      for (const name of NULL_IN_REQUEST) {
        const converted = leaf(null);
        if (converted instanceof CelError) return converted;
        if (!Object.hasOwn(result, name)) setKey(result, name, converted);
      }
    }
    return result as T;
  }

  /** Go's value inside the wrapper. */
  #bare<T>(value: Value, leaf: Leaf<T>): T | CelError {
    if (!this.#take(value)) return tooLarge();
    switch (kindOf(value)) {
      case "optional": {
        const content = (value as Optional).value;
        return content === undefined ? (null as T) : this.#bare(content, leaf);
      }
      case "object": {
        if (!(value instanceof ObjectVal)) return leaf(value);
        const fields = this.#fields(value, leaf);
        // An error inside of another object is a value there.
        if (fields instanceof CelError && fields.code === "conversion") return leaf(fields);
        return fields as T | CelError;
      }
      case "list":
        if (value instanceof ListSum) return this.#list(value, (item) => this.#bare(item, leaf)) as T | CelError;
        return value instanceof MadeList ? this.#shownOnly(value, leaf) : this.#data(value, leaf);
      case "map":
        return value instanceof MapValue ? this.#shownOnly(value, leaf) : this.#data(value, leaf);
      default:
        return leaf(value);
    }
  }

  #shownOnly<T>(value: Value, leaf: Leaf<T>): T | CelError {
    return this.#takeInside(value) ? leaf(value) : tooLarge();
  }

  /** Data inside of a literal: Go's own structs, lists and maps are not JSON. */
  #data<T>(value: Value, leaf: Leaf<T>): T | CelError {
    const type = this.#provenance.typeOf(value as object);
    if (type === undefined) return this.#raw(value, leaf);
    return this.#takeInside(value) ? leaf(goValue(value, type)) : tooLarge();
  }

  /** Data that stays as it is: its nulls are Go's own. */
  #raw<T>(value: Value, leaf: Leaf<T>): T | CelError {
    if (!this.#take(value)) return tooLarge();
    if (value === null) return null as T;
    const kind = kindOf(value);
    if (kind === "list") {
      return this.#list(value as readonly Value[], (item) => this.#raw(item, leaf)) as T | CelError;
    }
    if (kind !== "map") return leaf(value);
    const result: Record<string, unknown> = {};
    const entries = this.#entries(value);
    if (entries instanceof CelError) return entries;
    for (const [key, item] of entries) {
      if (!this.#takeName(key)) return tooLarge();
      const converted = this.#raw(item, leaf);
      if (converted instanceof CelError) return converted;
      setKey(result, key as string, converted);
    }
    return result as T;
  }
}

type Leaf<T> = (value: Value | CelError | ForeignValue) => T | CelError;

/** A map of an `Object` with keys that are not texts. */
class Failed {
  constructor(readonly message: string) {}
}

/** A key that is not a text, as Go's `%q` prints it: integers are printed as characters. */
function quotedKey(key: Value): string {
  const kind = kindOf(key);
  if (kind === "int") return quoteCharacter(BigInt(key as number | bigint), false);
  if (kind === "uint") return quoteCharacter(BigInt((key as Uint).value), false);
  return kind === "double" ? `%!q(types.Double=${doubleOf(key)})` : `%!q(types.Bool=${String(key)})`;
}

const keyFailure = (key: Value): string => `map key ${quotedKey(key)} is of type ${KEY_TYPES[kindOf(key)]}, not string`;

/** The members that are null in a request, since objects have variables of their own. */
const NULL_IN_REQUEST = ["object", "oldObject"];

const tooLarge = (): CelError => new CelError(`the patch is larger than ${MUTATION_MAX_SIZE} characters`, "too-large");

function typedError({ kind, go }: GoType): string {
  if (kind === "struct") return `type conversion error from struct type ${go} to ${TARGET}`;
  return `type conversion error from '${kind === "list" ? "list(dyn)" : "map(dyn, dyn)"}' to '${TARGET}'`;
}

const KEY_ERRORS: Partial<Record<Kind, string>> = {
  int: "unsupported type conversion from 'int' to string",
  uint: "unsupported type conversion from 'uint' to string",
  bool: "type conversion error from bool to 'string'",
  double: "type conversion error from Double to 'string'",
};

const KEY_TYPES: Partial<Record<Kind, string>> = {
  int: "types.Int",
  uint: "types.Uint",
  bool: "types.Bool",
  double: "types.Double",
};

/** Types whose names are short in messages: `Quantity` for `kubernetes.Quantity`. */
const SHORT = /^(?:kubernetes|net)\.(?:Named)?(Quantity|URL|IP|CIDR|Semver|Format)$/;
const nameOf = ({ typeName }: OpaqueValue): string => typeName.replace(SHORT, "$1");
