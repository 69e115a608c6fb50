/** Members that a schema does not have, as the API server finds them when it prunes: before anything else is looked at, types included. */
import type { FieldPath } from "../../../kubernetes/field-error.js";
import { isObject } from "../../../kubernetes/object.js";
import { memberSchema, type Schema } from "./schema.js";

/** Their paths. A map where a scalar or a list should be has no known members. */
export function unknownMembers(value: unknown, schema: Schema | undefined, path: FieldPath): FieldPath[] {
  if (schema?.type === "any") return [];
  if (Array.isArray(value)) {
    const items = schema?.type === "array" ? schema.items : undefined;
    return value.flatMap((item, i) => unknownMembers(item, items, [...path, i]));
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => {
    const own = schema && memberSchema(schema, key);
    return own === undefined ? [[...path, key]] : unknownMembers(item, own, [...path, key]);
  });
}
