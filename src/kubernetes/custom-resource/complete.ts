/** Completes values as the API server stores them: null members are absent, and those with a default are present. */
import { setKey } from "../../data/plain-object.js";
import { isObject } from "../object.js";
import { memberSchema, type Schema } from "./schema.js";

/** The completed value. Parts that do not fit the schema stay as they are. */
export function complete(value: unknown, schema: Schema): unknown {
  switch (schema.type) {
    case "array":
      return Array.isArray(value) ? value.map((item) => complete(item, schema.items)) : value;
    case "map":
    case "object":
      return isObject(value) ? completeMembers(value, schema) : value;
    case "integer":
      // A whole number may be written with a point.
      return value instanceof Number && Number.isInteger(value.valueOf()) ? value.valueOf() : value;
    default:
      return value;
  }
}

function completeMembers(value: Readonly<Record<string, unknown>>, schema: Schema): Readonly<Record<string, unknown>> {
  const made: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    const own = memberSchema(schema, key);
    if (own === undefined) setKey(made, key, item);
    else if (item !== null && item !== undefined) setKey(made, key, complete(item, own));
  }
  if (schema.type !== "object") return made;
  for (const [key, own] of Object.entries(schema.properties)) {
    if ("default" in own && !Object.hasOwn(made, key)) made[key] = complete(own.default, own);
  }
  return made;
}
