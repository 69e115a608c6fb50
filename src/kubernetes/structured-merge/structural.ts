/**
 * Whether a custom resource's schema is structural. The API server publishes no other: it treats a resource without such a schema as an
 * object of anything (spec mutating-admission-policy.md 7).
 */
import { isObject, type JsonObject, member, text } from "../object.js";

const TYPES: ReadonlySet<string> = new Set(["", "string", "number", "integer", "boolean", "array", "object"]);
/** Words of JSON Schema that custom resources don't have. */
const UNSUPPORTED = ["id", "$schema", "$ref", "patternProperties", "dependencies", "additionalItems", "definitions"];
/** Words that are allowed only outside of `allOf`, `anyOf`, `oneOf` and `not`. */
const STRUCTURE = [
  "type",
  "default",
  "title",
  "description",
  "nullable",
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-embedded-resource",
  "x-kubernetes-int-or-string",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-list-type",
  "x-kubernetes-map-type",
  "x-kubernetes-validations",
];
/** The members of metadata that the root may restrict: the names. */
const METADATA_MEMBERS: ReadonlySet<string> = new Set(["name", "generateName"]);

/** Whether a schema is structural, apart from its patterns. */
export function isStructural(schema: JsonObject): boolean {
  return isStructure(schema, true) && isComplete(schema, schema);
}

/** Whether a schema describes the structure of a value. */
function isStructure(schema: JsonObject, isRoot: boolean): boolean {
  if (!isSupported(schema)) return false;
  const type = text(schema, "type");
  const properties = membersOf(schema.properties);
  const { items, additionalProperties } = schema;
  if (type === "array" && !isObject(items)) return false;
  if (isObject(items) && !isStructure(items, false)) return false;
  if (!Object.values(properties).every((property) => isObject(property) && isStructure(property, false))) return false;
  if (isRoot && isSet(additionalProperties)) return false;
  if (isObject(additionalProperties) && !isStructure(additionalProperties, false)) return false;
  const embedded = flag(schema, "embedded-resource");
  const preserving = flag(schema, "preserve-unknown-fields");
  const intOrString = flag(schema, "int-or-string");
  if (intOrString && (preserving || embedded)) return false;
  if (type === "" && !intOrString && !preserving) return false;
  if (isRoot && type !== "" && type !== "object") return false;
  if (embedded) {
    if (type !== "object" || isSet(additionalProperties)) return false;
    if (!preserving && Object.keys(properties).length === 0) return false;
  }
  if ((isRoot || embedded) && !hasIdentityOf(properties)) return false;
  if (isRoot && isObject(properties.metadata) && !isNamesOnly(properties.metadata)) return false;
  return nestedOf(withoutIntOrString(schema)).every(isValidation);
}

/** Whether kind, apiVersion and metadata have their usual types. */
function hasIdentityOf({ kind, apiVersion, metadata }: JsonObject): boolean {
  const ofType = (schema: unknown, type: string): boolean => schema === undefined || text(schema, "type") === type;
  return ofType(kind, "string") && ofType(apiVersion, "string") && ofType(metadata, "object");
}

function isNamesOnly(metadata: JsonObject): boolean {
  const others = Object.keys(metadata).filter((key) => !["type", "default", "properties"].includes(key));
  const names = Object.keys(membersOf(metadata.properties));
  return others.every((key) => !isSet(metadata[key])) && names.every((name) => METADATA_MEMBERS.has(name));
}

/** Whether a schema only restricts which values are valid. */
function isValidation(schema: JsonObject): boolean {
  if (!isSupported(schema)) return false;
  if (STRUCTURE.some((key) => isSet(schema[key]))) return false;
  const { items, additionalProperties } = schema;
  if (isObject(additionalProperties) || additionalProperties === true) return false;
  const properties = membersOf(schema.properties);
  if (Object.hasOwn(properties, "metadata")) return false;
  if (isObject(items) && !isValidation(items)) return false;
  if (!Object.values(properties).every((property) => isObject(property) && isValidation(property))) return false;
  return nestedOf(schema).every(isValidation);
}

/** Whether everything that a validation names exists in the structure. */
function isComplete(validation: JsonObject, structure: JsonObject): boolean {
  return nestedOf(validation).every((nested) => isCovered(nested, structure));
}

function isCovered(validation: JsonObject, structure: unknown): boolean {
  if (!isObject(structure)) return false;
  const { items } = validation;
  if (isObject(items) && !isCovered(items, structure.items)) return false;
  for (const [name, property] of Object.entries(membersOf(validation.properties))) {
    if (isObject(property) && !isCovered(property, member(structure.properties, name))) return false;
  }
  return isComplete(validation, structure);
}

function isSupported(schema: JsonObject): boolean {
  if (!TYPES.has(text(schema, "type")) || Array.isArray(schema.items)) return false;
  if (schema["x-kubernetes-preserve-unknown-fields"] === false) return false;
  return UNSUPPORTED.every((key) => !isSet(schema[key]));
}

/** The schemas in `allOf`, `anyOf`, `oneOf` and `not`. */
function nestedOf({ allOf, anyOf, oneOf, not }: JsonObject): readonly JsonObject[] {
  return [...schemasOf(allOf), ...schemasOf(anyOf), ...schemasOf(oneOf), ...schemasOf([not])];
}

/** A structure's conditions without those of int-or-string, whose two types may be named in one of two places. */
function withoutIntOrString(schema: JsonObject): JsonObject {
  const [first, ...others] = schemasOf(schema.allOf);
  const anyOf = isIntOrString(schema.anyOf) ? [] : schema.anyOf;
  const allOf = first !== undefined && isIntOrString(first.anyOf) ? [{ ...first, anyOf: [] }, ...others] : schema.allOf;
  return { ...schema, anyOf, allOf };
}

const schemasOf = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

const isIntOrString = (value: unknown): boolean => JSON.stringify(value) === '[{"type":"integer"},{"type":"string"}]';

const membersOf = (value: unknown): JsonObject => (isObject(value) ? value : {});

const flag = (schema: JsonObject, name: string): boolean => schema[`x-kubernetes-${name}`] === true;

/** Whether a word has an effect: an empty one counts as absent. */
function isSet(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === "") return false;
  if (Array.isArray(value)) return value.length > 0;
  return true;
}
