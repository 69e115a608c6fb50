/** The types that only mutations know: `Object`, `Object.<field>…` and `JSONPatch` (spec mutating-admission-policy.md 5). */
import {
  CelError,
  DYN,
  MadeList,
  type ObjectTypeProvider,
  ObjectValue,
  Optional,
  objectType,
  type ProvidedObjectType,
  type Result,
  STRING,
  type Type,
  TypeValue,
  type Value,
} from "../../cel/index.js";
import { goTypeOf } from "./go-value.js";
import { haveIdenticalValues } from "./identical.js";

/** The name of the type of a whole object; those of its parts begin with it and a dot. */
export const OBJECT = "Object";
/** The name of the type of one operation of a JSON Patch. */
export const JSON_PATCH = "JSONPatch";

/** What `Object{…}` or `Object.spec{…}` makes. */
export class ObjectVal extends ObjectValue {
  readonly typeName: string;
  readonly members: ReadonlyMap<string, Value>;

  constructor(typeName: string, members: ReadonlyMap<string, Value>) {
    super();
    this.typeName = typeName;
    this.members = members;
  }

  /** A field that is not there is null, though `has()` is false; one that is an `Object` is a map. */
  get(field: string): Value {
    return plain(this.members.get(field) ?? null);
  }

  has(field: string): boolean {
    return this.members.has(field);
  }

  fields(): Iterable<string> {
    return this.members.keys();
  }

  /** Go compares such values by what they are made of, not by CEL's rules: 1 is not 1.0, and one list literal never another. */
  override isSame(other: ObjectValue): boolean {
    if (!(other instanceof ObjectVal) || other.typeName !== this.typeName) return false;
    return haveIdenticalValues(this.members, other.members);
  }

  override get nativeName(): string {
    return "*dynamic.ObjectVal";
  }
}

/** Go's form of a field: objects are maps there. */
function plain(value: Value): Value {
  if (value instanceof ObjectVal) {
    return Object.fromEntries(Array.from(value.members, ([name, member]) => [name, plain(member)]));
  }
  if (!Array.isArray(value)) return value;
  const list = value as readonly Value[];
  return list.some((item) => item instanceof ObjectVal) ? MadeList.from(list, plain) : list;
}

/** What `JSONPatch{…}` makes. */
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
    switch (field) {
      case "op":
      case "path":
      case "from":
        return this[field];
      case "value":
        return this.value ?? null;
      default:
        return new CelError(`unsupported indexer: ${field}`);
    }
  }

  has(field: string): boolean | CelError {
    switch (field) {
      case "op":
      case "path":
      case "from":
        return this[field] !== "";
      case "value":
        return this.value !== undefined;
      default:
        return new CelError(`unsupported field: ${field}`);
    }
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

/** The type of a field that `JSONPatch` has not: the server knows no type for it, and nothing but dyn goes in. */
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

/** Every field may be there, and be of any type. */
const ANY_FIELD: ProvidedObjectType["fields"] = { get: () => DYN };

/** Finds them by their names. */
export const MUTATION_TYPES: ObjectTypeProvider = {
  namespaces: [OBJECT],
  find: (name) => {
    if (name === JSON_PATCH) return JSON_PATCH_TYPE;
    if (name !== OBJECT && !name.startsWith(`${OBJECT}.`)) return undefined;
    return { fields: ANY_FIELD, construct: (fields) => new ObjectVal(name, fields) };
  },
};
