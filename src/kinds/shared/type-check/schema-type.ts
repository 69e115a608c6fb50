/** OpenAPI schemas as types of expressions (spec validating-admission-policy.md 10.4). */
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listType,
  mapType,
  type ObjectTypeDeclaration,
  objectType,
  STRING,
  TIMESTAMP,
  type Type,
} from "../../../cel/index.js";
import { isObject, type JsonObject, member, text } from "../../../kubernetes/object.js";
import { RESERVED_WORDS } from "../expressions/reserved-words.js";

/** Finds a definition by the text of a `$ref`. */
export type FindDefinition = (ref: string) => JsonObject | undefined;

/** A type and the object types it is made of; `undefined` when the schema has no type an expression could use. */
export interface SchemaType {
  readonly type: Type;
  readonly objectTypes: readonly ObjectTypeDeclaration[];
}

/** The type of a kind's objects. Its object types are named after `name` and their place below it. */
export function schemaType(schema: JsonObject, name: string, find: FindDefinition): SchemaType | undefined {
  const conversion = new Conversion(find);
  const root = withObjectMeta(conversion.resolved(schema, EMPTY));
  const type = conversion.convert(root, name, EMPTY);
  return type && { type, objectTypes: conversion.objectTypes };
}

const EMPTY: ReadonlySet<string> = new Set();

class Conversion {
  readonly objectTypes: ObjectTypeDeclaration[] = [];

  readonly #find: FindDefinition;

  constructor(find: FindDefinition) {
    this.#find = find;
  }

  /** @param visited the references on the way here: a repeated one is an object without properties */
  convert(written: unknown, name: string, visited: ReadonlySet<string>): Type | undefined {
    if (!isObject(written)) return undefined;
    const ref = refOf(written);
    const schema = this.resolved(written, visited);
    const inside = ref === undefined ? visited : new Set([...visited, ref]);
    if (schema["x-kubernetes-int-or-string"] === true || schema.format === "int-or-string") return DYN;
    switch (typeName(schema)) {
      case "array": {
        const element = this.convert(this.#embedded(schema.items, inside), `${name}.@idx`, inside);
        return element && listType(element);
      }
      case "object":
        return this.#object(schema, name, inside);
      case "string":
        return STRING_FORMATS.get(text(schema, "format")) ?? STRING;
      case "boolean":
        return BOOL;
      case "integer":
        return INT;
      case "number":
        return DOUBLE;
      default:
        return undefined;
    }
  }

  #object(schema: JsonObject, name: string, visited: ReadonlySet<string>): Type | undefined {
    const values = schema.additionalProperties;
    if (isObject(values)) {
      const value = this.convert(this.#embedded(values, visited), `${name}.@elem`, visited);
      return value && mapType(STRING, value);
    }
    const fields = new Map<string, Type>();
    const properties = isObject(schema.properties) ? schema.properties : {};
    for (const [property, written] of Object.entries(properties)) {
      const field = escapedName(property);
      if (field === undefined) continue;
      const type = this.convert(this.#embedded(written, visited), `${name}.${field}`, visited);
      if (type === undefined) continue;
      fields.set(field, type);
      if (RESERVED_WORDS.has(property)) fields.set(property, type);
    }
    this.objectTypes.push({ name, fields });
    return objectType(name);
  }

  /** The schema of an embedded resource, which has metadata like any other. */
  #embedded(written: unknown, visited: ReadonlySet<string>): unknown {
    if (!isObject(written)) return written;
    const schema = this.resolved(written, visited);
    return schema["x-kubernetes-embedded-resource"] === true ? withObjectMeta(schema) : written;
  }

  resolved(schema: JsonObject, visited: ReadonlySet<string>): JsonObject {
    const ref = refOf(schema);
    if (ref === undefined) return schema;
    return (visited.has(ref) ? undefined : this.#find(ref)) ?? CIRCULAR;
  }
}

const CIRCULAR: JsonObject = { type: "object" };

const STRING_FORMATS: ReadonlyMap<string, Type> = new Map([
  ["byte", BYTES],
  ["duration", DURATION],
  ["date", TIMESTAMP],
  ["date-time", TIMESTAMP],
]);

/** The text of a reference, which may be wrapped to carry a description. */
export function refOf(schema: JsonObject): string | undefined {
  if (typeof schema.$ref === "string") return schema.$ref;
  for (const part of Array.isArray(schema.allOf) ? (schema.allOf as readonly unknown[]) : []) {
    const ref = isObject(part) ? refOf(part) : undefined;
    if (ref !== undefined) return ref;
  }
  return undefined;
}

function typeName(schema: JsonObject): string {
  const { type } = schema;
  return typeof type === "string" ? type : Array.isArray(type) && typeof type[0] === "string" ? type[0] : "";
}

const TEXT: JsonObject = { type: "string" };

/** The schema with the members of every resource: apiVersion, kind, metadata.name and metadata.generateName. */
function withObjectMeta(schema: JsonObject): JsonObject {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const metadata = member(properties, "metadata");
  const known =
    ["kind", "apiVersion"].every((name) => isObject(properties[name])) &&
    isObject(metadata) &&
    (refOf(metadata) !== undefined ||
      ["name", "generateName"].every((name) => isObject(member(metadata.properties, name))));
  if (known) return schema;
  const objectMeta = { type: "object", properties: { name: TEXT, generateName: TEXT } };
  return { ...schema, properties: { ...properties, kind: TEXT, apiVersion: TEXT, metadata: objectMeta } };
}

const ESCAPES: Readonly<Record<string, string>> = {
  __: "__underscores__",
  ".": "__dot__",
  "-": "__dash__",
  "/": "__slash__",
};

/** The field that an expression reads a property as (spec kubernetes-cel.md 6.5); `undefined` when it cannot. */
export function escapedName(property: string): string | undefined {
  if (property === "" || /^[0-9]/.test(property) || /[^a-zA-Z0-9_./-]/.test(property)) return undefined;
  if (RESERVED_WORDS.has(property)) return `__${property}__`;
  return property.replace(/__|[-./]/g, (match) => ESCAPES[match] ?? match);
}
