/** Messages: objects whose fields all have a value, given or not, as in Protocol Buffers and in the reference's structs. */
import {
  CelError,
  type ObjectTypeDeclaration,
  ObjectValue,
  Timestamp,
  type Type,
  uintOf,
  type Value,
} from "../../../cel/index.js";

/** Fields by name, of types by name. */
export type MessageTable = Readonly<Record<string, Readonly<Record<string, Type>>>>;

/** Whether an empty list or map that was given counts as absent: Protocol Buffers make no difference, structs do. */
export type Emptiness = "absent" | "present";

/** Types of messages that may refer to each other. */
export class MessageTypes {
  readonly declarations: readonly ObjectTypeDeclaration[];
  readonly emptiness: Emptiness;
  readonly #types: ReadonlyMap<string, ReadonlyMap<string, Type>>;
  readonly #others: readonly MessageTypes[];

  /** @param others types that fields may have beside their own */
  constructor(table: MessageTable, emptiness: Emptiness, others: readonly MessageTypes[] = []) {
    const types = Object.entries(table).map(([name, fields]) => [name, new Map(Object.entries(fields))] as const);
    this.#types = new Map(types);
    this.emptiness = emptiness;
    this.#others = others;
    this.declarations = types.map(([name, fields]) => ({
      name,
      fields,
      construct: (values) => new Message(this, name, values, true),
    }));
  }

  /** A message. */
  make(name: string, values: Readonly<Record<string, Value>> = {}): Message {
    const other = this.#others.find((types) => types.fields(name) !== undefined);
    if (other !== undefined) return other.make(name, values);
    return new Message(this, name, new Map(Object.entries(values)), false);
  }

  /** The fields of a type; `undefined` for another type. */
  fields(name: string): ReadonlyMap<string, Type> | undefined {
    return this.#types.get(name);
  }
}

/** A message of one of these types. */
export class Message extends ObjectValue {
  /** @param literal whether it is written as a message in an expression, not made by a function */
  constructor(
    readonly types: MessageTypes,
    readonly typeName: string,
    readonly values: ReadonlyMap<string, Value>,
    readonly literal: boolean,
  ) {
    super();
  }

  get(field: string): Value | CelError {
    const type = this.types.fields(this.typeName)?.get(field);
    if (type === undefined) return new CelError(`no such field '${field}'`, "no-such-key");
    return this.values.get(field) ?? this.#unset(type);
  }

  has(field: string): boolean | CelError {
    const type = this.types.fields(this.typeName)?.get(field);
    if (type === undefined) return new CelError(`no such field '${field}'`, "no-such-key");
    const value = this.values.get(field);
    return value !== undefined && !isZero(value, this.types.emptiness);
  }

  *fields(): Iterable<string> {
    for (const name of this.values.keys()) if (this.has(name) === true) yield name;
  }

  /** The value of a field, if it was given and is a message. */
  message(field: string): Message | undefined {
    const value = this.values.get(field);
    return value instanceof Message ? value : undefined;
  }

  /** A copy with another value of a field. */
  with(field: string, value: Value): Message {
    return new Message(this.types, this.typeName, new Map([...this.values, [field, value]]), false);
  }

  /** A copy with one more value in a list. */
  adding(field: string, value: Value): Message {
    const before = this.values.get(field);
    return this.with(field, [...(Array.isArray(before) ? (before as Value[]) : []), value]);
  }

  #unset(type: Type): Value {
    switch (type.kind) {
      case "object":
        return this.types.make(type.name);
      case "string":
        return "";
      case "bool":
        return false;
      case "int":
        return 0;
      case "uint":
        return uintOf(0);
      case "bytes":
        return new Uint8Array();
      case "list":
        return [];
      case "map":
        return {};
      case "timestamp":
        return new Timestamp(0, 0);
      default:
        return null;
    }
  }
}

function isZero(value: Value, emptiness: Emptiness): boolean {
  if (value === "" || value === false || value === 0) return true;
  if (value instanceof Uint8Array) return value.length === 0;
  if (typeof value !== "object" || value === null || emptiness === "present") return false;
  if (Array.isArray(value)) return value.length === 0;
  return Object.getPrototypeOf(value) === Object.prototype && Object.keys(value).length === 0;
}
