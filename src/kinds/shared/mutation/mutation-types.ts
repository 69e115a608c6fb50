/** The types that only mutations have: `Object`, `Object.<field>…` and `JSONPatch` (spec mutating-admission-policy.md 5). */
import {
  BoundedWork,
  CelError,
  compare,
  DYN,
  doubleOf,
  equals,
  kindOf,
  MapValue,
  type ObjectTypeProvider,
  ObjectValue,
  Optional,
  objectType,
  type ProvidedObjectType,
  type Result,
  STRING,
  type Timestamp,
  type Type,
  TypeValue,
  type Value,
  type Work,
} from "../../../cel/index.js";
import { quote } from "../../../data/go/quote.js";
import { goTypeOf } from "./go-value.js";
import { areSelectable, selected } from "./selected-field.js";

/**
 * Whether the fields of two objects have the same names and identical values. Two lists never are, nor values that contain them: Go compares their functions.
 * Data is compared by its contents.
 */
function haveIdenticalValues(a: ReadonlyMap<string, Value>, b: ReadonlyMap<string, Value>): boolean {
  if (a.size !== b.size) return false;
  for (const [name, value] of a) {
    const other = b.get(name);
    if (other === undefined || !same(value, other, false)) return false;
  }
  return true;
}

function same(a: Value, b: Value, data: boolean): boolean {
  const kind = kindOf(a);
  if (kind !== kindOf(b)) return false;
  switch (kind) {
    case "null":
    case "bool":
    case "int":
    case "string":
      return a === b;
    case "double":
      return doubleOf(a) === doubleOf(b);
    case "uint":
    case "bytes":
    case "duration":
      return compare(a, b) === 0;
    case "timestamp":
      return compare(a, b) === 0 && (a as Timestamp).offsetSeconds === (b as Timestamp).offsetSeconds;
    case "type":
      return (a as TypeValue).name === (b as TypeValue).name;
    case "list":
      return data && sameItems(a as readonly Value[], b as readonly Value[]);
    case "map":
      return sameMaps(a, b);
    case "object":
      return a === b || (a as ObjectValue).isSame(b as ObjectValue, new BoundedWork(0)) === true;
    default:
      return a === b;
  }
}

const sameItems = (a: readonly Value[], b: readonly Value[]): boolean =>
  a === b || (a.length === b.length && a.every((item, i) => same(item, b[i] as Value, true)));

function sameMaps(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (a instanceof MapValue !== b instanceof MapValue) return false;
  if (!(a instanceof MapValue) || !(b instanceof MapValue)) return sameData(a as JsonMap, b as JsonMap);
  if (a.size !== b.size) return false;
  const others = new Map(Array.from(b.entries(), ([key, value]) => [identity(key), value] as const));
  for (const [key, value] of a.entries()) {
    const other = others.get(identity(key));
    if (other === undefined || !same(value, other, false)) return false;
  }
  return true;
}

type JsonMap = { readonly [key: string]: Value };

function sameData(a: JsonMap, b: JsonMap): boolean {
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && same(a[key] as Value, b[key] as Value, true));
}

const identity = (key: Value): string => `${kindOf(key)} ${String(key)}`;

/** The name of the type of a whole object; those of its parts begin with it and a dot. */
export const OBJECT = "Object";
/** The name of the type of one operation of a JSON Patch. */
export const JSON_PATCH = "JSONPatch";

/** The value of `Object{…}` or `Object.spec{…}`. */
export class ObjectVal extends ObjectValue {
  readonly typeName: string;
  readonly members: ReadonlyMap<string, Value>;
  #selectable: boolean | undefined;
  #selected: Map<string, Result> | undefined;

  constructor(typeName: string, members: ReadonlyMap<string, Value>) {
    super();
    this.typeName = typeName;
    this.members = members;
  }

  /** Finds nothing: for accesses where its type is not known, as in `dyn(Object{a: 1}).a`, and optional ones. */
  get(): undefined {
    return undefined;
  }

  has(): boolean {
    return false;
  }

  /** Whether its fields can be selected; computed once. */
  get isSelectable(): boolean {
    this.#selectable ??= areSelectable(this.members);
    return this.#selectable;
  }

  /** The value of a field: a missing one is null, though `has()` is false; one that is an `Object` is a map. */
  override getDeclared(field: string): Result {
    if (!this.isSelectable) return new CelError(`cannot get field ${quote(field, false)}`);
    let value = this.#selected?.get(field);
    if (value !== undefined) return value;
    value = selected(this.members.get(field) ?? null, membersOf);
    this.#selected ??= new Map();
    this.#selected.set(field, value);
    return value;
  }

  override hasDeclared(field: string): boolean {
    return this.isSelectable && this.members.has(field);
  }

  override get isZero(): boolean {
    return this.members.size === 0;
  }

  fields(): Iterable<string> {
    return this.members.keys();
  }

  /** Equality by Go's rules, on the contents: 1 is not 1.0, and one list literal never equals another. */
  override isSame(other: ObjectValue): boolean {
    if (!(other instanceof ObjectVal) || other.typeName !== this.typeName) return false;
    return haveIdenticalValues(this.members, other.members);
  }

  override get nativeName(): string {
    return "*dynamic.ObjectVal";
  }
}

/** The fields of an `Object`, of which others may be a part; an error where they cannot be converted. */
export function membersOf(value: Value): ReadonlyMap<string, Value> | CelError | undefined {
  if (!(value instanceof ObjectVal)) return undefined;
  return value.isSelectable ? value.members : new CelError(`no such field of ${value.typeName}`);
}

/** The value of `JSONPatch{…}`. */
export class JsonPatchVal extends ObjectValue {
  readonly typeName = JSON_PATCH;
  readonly op: string;
  readonly path: string;
  /** `""`: there is none. */
  readonly from: string;
  /** `undefined`: there is none. */
  readonly value: Value | undefined;

  constructor({ op, path, from, value }: Pick<JsonPatchVal, "op" | "path" | "from" | "value">) {
    super();
    this.op = op;
    this.path = path;
    this.from = from;
    this.value = value;
  }

  get(field: string): Result {
    if (field === "value") return this.value ?? null;
    const text = TEXTS.find((each) => each === field);
    return text === undefined ? new CelError(`unsupported indexer: ${field}`) : this[text];
  }

  has(field: string): boolean | CelError {
    if (field === "value") return this.value !== undefined;
    const text = TEXTS.find((each) => each === field);
    return text === undefined ? new CelError(`unsupported field: ${field}`) : this[text] !== "";
  }

  /** Equality; an error where the values cannot be compared. */
  override isSame(other: ObjectValue, work: Work): boolean | CelError {
    if (!(other instanceof JsonPatchVal)) return false;
    if (TEXTS.some((text) => this[text] !== other[text])) return false;
    if (this.value === undefined || other.value === undefined) return this.value === other.value;
    return equals(this.value, other.value, work);
  }

  *fields(): Iterable<string> {
    yield* TEXTS;
    if (this.value !== undefined) yield "value";
  }

  override get nativeName(): string {
    return "*mutation.JSONPatchVal";
  }
}

const TEXTS = ["op", "path", "from"] as const;

/** The type of a field that `JSONPatch` does not have: the server knows no type for it, and accepts only dyn. */
const NO_TYPE: Type = objectType("");

const JSON_PATCH_TYPE: ProvidedObjectType = {
  fields: { get: (field) => (field === "value" ? DYN : TEXTS.some((text) => text === field) ? STRING : NO_TYPE) },
  construct: makeOperation,
};

function makeOperation(fields: ReadonlyMap<string, Value>): Result {
  const texts = { op: "", path: "", from: "" };
  for (const field of TEXTS) {
    const value = unwrapped(fields.get(field));
    if (typeof value === "string") texts[field] = value;
    else if (value !== undefined) {
      return new CelError(`unexpected type ${goTypeOf(value)} for JSONPatchType '${field}' field`);
    }
  }
  for (const field of fields.keys()) {
    if (field !== "value" && !Object.hasOwn(texts, field))
      return new CelError(`unexpected JSONPatchType field: ${field}`);
  }
  return new JsonPatchVal({ ...texts, value: fields.get("value") });
}

/** A value whose Go form is a text: that of an optional is its content's, that of a type its name. */
function unwrapped(value: Value | undefined): Value | undefined {
  if (value instanceof Optional && value.value !== undefined) return unwrapped(value.value);
  return value instanceof TypeValue ? value.name : value;
}

/** Fields of any name and type. */
const ANY_FIELD: ProvidedObjectType["fields"] = { get: () => DYN };

/** Finds the types by their names. */
export const MUTATION_TYPES: ObjectTypeProvider = {
  namespaces: [OBJECT],
  find: (name) => {
    if (name === JSON_PATCH) return JSON_PATCH_TYPE;
    if (name !== OBJECT && !name.startsWith(`${OBJECT}.`)) return undefined;
    return { fields: ANY_FIELD, construct: (fields) => new ObjectVal(name, fields) };
  },
};
