/** The types that only mutations know: `Object`, `Object.<field>…` and `JSONPatch` (spec mutating-admission-policy.md 5). */
import {
  CelError,
  DYN,
  type ObjectTypeProvider,
  ObjectValue,
  objectType,
  type ProvidedObjectType,
  type Result,
  STRING,
  type Type,
  type Value,
} from "../../cel/index.js";
import { goTypeOf } from "./go-value.js";
import { isIdentical } from "./identical.js";

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

  /** A field that is not there is null, though `has()` is false. */
  get(field: string): Value {
    return this.members.get(field) ?? null;
  }

  has(field: string): boolean {
    return this.members.has(field);
  }

  fields(): Iterable<string> {
    return this.members.keys();
  }

  /** Go compares such values by what they are made of, not by CEL's rules: 1 is not 1.0, and one list literal never another. */
  override isSame(other: ObjectValue): boolean {
    return other instanceof ObjectVal && isIdentical(this, other);
  }

  override get nativeName(): string {
    return "*dynamic.ObjectVal";
  }
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

  get(field: string): Value | undefined {
    switch (field) {
      case "op":
      case "path":
      case "from":
        return this[field];
      case "value":
        return this.value ?? null;
      default:
        return undefined;
    }
  }

  has(field: string): boolean {
    return field === "value" ? this.value !== undefined : Boolean(this.get(field));
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
    const value = fields.get(field);
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
