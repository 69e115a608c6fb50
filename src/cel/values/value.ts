/**
 * The representation of CEL values at run time. JSON is read in place: the result of a JSON reader is a CEL value already.
 *
 * | CEL | JavaScript |
 * | --- | --- |
 * | null, bool, string | `null`, `boolean`, `string` (well-formed UTF-16) |
 * | int | `number` when it is a safe integer (never -0), else `bigint` |
 * | uint | {@link Uint} |
 * | double | `number` when it is not a safe integer (fractions, NaN, infinities, large values), else a `Number` object (`Object(1)`, `Object(-0)`) |
 * | bytes | `Uint8Array` |
 * | list | array |
 * | map | plain object (string keys, as JSON has them) or {@link MapValue} |
 * | timestamp, duration, type, optional | {@link Timestamp}, {@link Duration}, {@link TypeValue}, {@link Optional} |
 * | library values, typed objects | {@link OpaqueValue}, {@link ObjectValue} |
 *
 * The representation of a value is unique: 1 is always the number 1, 2^60 always a bigint, 1.0 always a `Number` object. So two ints are equal
 * exactly when `===` is true. An integral double is a `Number` object, and not a class of ours, because a JSON reader must be able to make one
 * without knowing CEL.
 */

import type { CelError } from "./cel-error.js";
import { BUCKET, keyOf } from "./map-key.js";
import { MARK } from "./mark.js";
import type { Duration, Timestamp } from "./time.js";
import type { TypeValue } from "./type-value.js";
import type { Uint } from "./uint.js";
import type { Work } from "./work.js";

/** A CEL value. */
export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  // biome-ignore lint/complexity/noBannedTypes: an integral double is a Number object, see above
  | Number
  | Uint
  | Uint8Array
  | readonly Value[]
  | { readonly [key: string]: Value }
  | MapValue
  | Timestamp
  | Duration
  | TypeValue
  | Optional
  | OpaqueValue
  | ObjectValue;

/** The result of an expression: a value, or an error as a value. */
export type Result = Value | CelError;

/**
 * A map made by an expression, or bound with keys that are not all strings: insertion order, keys int, uint, double, bool and string.
 * Int and uint keys of equal value share one entry; a double key keeps its own (spec kubernetes-cel.md 2.5 and 9.1).
 */
export class MapValue {
  get [MARK](): true {
    return true;
  }

  /** Entries by normalised key (see {@link keyOf}); each holds the key as it was given first and its value. */
  readonly #entriesByKey = new Map<unknown, readonly [Value, Value]>();

  /** The number of entries. */
  get size(): number {
    return this.#entriesByKey.size;
  }

  /** Sets an entry; only while the map is being built. The key must be a usable one: `keyOf(key) !== undefined`. */
  set(key: Value, value: Value): void {
    const normalised = keyOf(key);
    const before = this.#entriesByKey.get(normalised);
    this.#entriesByKey.set(normalised, [before === undefined ? key : before[0], value]);
  }

  /** Removes an entry; only while the map is being built. */
  delete(key: Value): void {
    this.#entriesByKey.delete(keyOf(key));
  }

  /** The value under exactly this key or its int/uint equal; `undefined` when absent. A double looks up its own key only. */
  get(key: Value): Value | undefined {
    return this.#entriesByKey.get(keyOf(key))?.[1];
  }

  /** The keys, as given, in insertion order. */
  *keys(): Iterable<Value> {
    for (const [key] of this.#entriesByKey.values()) yield key;
  }

  /** The entries in insertion order. */
  entries(): Iterable<readonly [Value, Value]> {
    return this.#entriesByKey.values();
  }
}

/** An optional value (spec kubernetes-cel.md 4.6). Nested optionals keep every level. */
export class Optional {
  get [MARK](): true {
    return true;
  }

  /** The optional without a value. */
  static readonly NONE: Optional = new Optional(undefined);

  private constructor(
    /** The value, `undefined` for none. */
    readonly value: Value | undefined,
  ) {}

  /** The bucket: all optionals without a value are one key of a map. */
  get [BUCKET](): unknown {
    return this.value === undefined ? this : Symbol("key");
  }

  /** `optional.of(value)`. */
  static of(value: Value): Optional {
    return new Optional(value);
  }
}

/** A value of a library type (`kubernetes.Quantity`, `net.IP`, …). */
export abstract class OpaqueValue {
  get [MARK](): true {
    return true;
  }

  /** The runtime type name, such as `kubernetes.Quantity`. */
  abstract readonly typeName: string;
  /** `==` with this value on the left: a `CelError` where the other kind has no comparison (spec kubernetes-cel.md 2.2). */
  abstract equals(other: Value): boolean | CelError;
  /** The text for tools and explanations; not reachable from CEL. */
  abstract toString(): string;
  /** The name of its class in errors of the reference implementation. */
  get nativeName(): string {
    return "types.Opaque";
  }

  /** Its bucket among the keys of a map: its own, unless a subclass overrides it; `undefined` where it cannot be a key. */
  get [BUCKET](): unknown {
    return this;
  }

  /**
   * A text that identifies this value among others of its type, for arguments of calls that are made once; `undefined` (the default) where there
   * is none.
   */
  get identity(): string | undefined {
    return undefined;
  }

  /** The size that the cost model sees: 4 or 16 octets of an address, 1 for most kinds (spec kubernetes-cel.md 5.3). */
  get costSize(): number {
    return 1;
  }

  /** For a named format: the length of its pattern in the cost model (spec kubernetes-cel.md 4.11). */
  get patternSize(): number | undefined {
    return undefined;
  }
}

/**
 * A value of a declared object type whose fields are read one by one, at first use (`request`, `variables`, schema-bound objects).
 * JSON objects need none of this: they are read in place.
 */
export abstract class ObjectValue {
  get [MARK](): true {
    return true;
  }

  /** The object's type name, such as `kubernetes.AdmissionRequest`. */
  abstract readonly typeName: string;
  /** The field's value; `undefined` when it is absent (`has()` is false). */
  abstract get(field: string): Result | undefined;
  /** Whether `has(x.field)` holds; an error where finding out fails (a field of `variables` is evaluated for it). */
  abstract has(field: string): boolean | CelError;
  /** The names of the fields that are present. */
  abstract fields(): Iterable<string>;
  /** {@link get} where the checker has found the field in a type of an `ObjectTypeProvider`, as in `T{f: 1}.f`, but not in `T{f: 1}.?f`. */
  getDeclared(field: string): Result | undefined {
    return this.get(field);
  }
  /** {@link has} of such a field. */
  hasDeclared(field: string): boolean | CelError {
    return this.has(field);
  }
  /** Whether it is its type's zero, which `optional.ofNonZeroValue` leaves out. */
  get isZero(): boolean {
    return false;
  }
  /** `==` where it does not compare the types and all fields; `undefined` where it does. */
  isSame(_other: ObjectValue, _work: Work): boolean | CelError | undefined {
    return undefined;
  }
  /** The value under a key that is not a text; `undefined` for none. */
  at(_key: Value): Result | undefined {
    return undefined;
  }

  /** The name of its class in errors of the reference implementation. */
  get nativeName(): string {
    return "types.Object";
  }

  /** The name in errors of a variable's value, before the reference implementation has wrapped it in that class. */
  get goName(): string {
    return this.nativeName;
  }
}
