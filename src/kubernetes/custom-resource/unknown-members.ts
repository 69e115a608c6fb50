/** Members that a schema does not have, as the API server finds them when it prunes: before any other check, types included. */
import { setKey } from "../../data/plain-object.js";
import type { FieldPath } from "../field-error.js";
import { isObject } from "../object.js";
import { memberSchema, type ObjectSchema, type Schema } from "./schema.js";

/** The paths of unknown members. A map in the place of a scalar or a list has no known members. */
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

/** The value without them. */
export function pruned(value: unknown, schema: Schema | undefined): unknown {
  if (schema?.type === "any") return value;
  if (Array.isArray(value)) {
    const items = schema?.type === "array" ? schema.items : undefined;
    return value.map((item) => pruned(item, items));
  }
  if (!isObject(value)) return value;
  const kept: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    const own = schema && memberSchema(schema, key);
    if (own !== undefined) setKey(kept, key, pruned(item, own));
  }
  return kept;
}

/** The names that a member may have at the end of the path, to find the one that was meant. */
export function siblings(path: FieldPath, schema: ObjectSchema): readonly string[] {
  let at: Schema | undefined = schema;
  for (const part of path.slice(0, -1)) {
    if (at === undefined) break;
    if (typeof part === "number") at = at.type === "array" ? at.items : undefined;
    else at = memberSchema(at, part);
  }
  return at?.type === "object" ? Object.keys(at.properties) : [];
}
