import { setKey } from "../../data/plain-object.js";
import { isObject, type JsonObject } from "../object.js";
import { ForeignValue, NIL_LIST } from "./patch-value.js";

/** Whether an empty list of CEL stands somewhere in a patch. */
export function hasNilList(value: unknown): boolean {
  if (value === NIL_LIST) return true;
  if (Array.isArray(value)) return value.some(hasNilList);
  return (
    isObject(value) && !(value instanceof ForeignValue) && Object.keys(value).some((key) => hasNilList(value[key]))
  );
}

/** The object as it is written: an empty list of CEL that got into it is null. What has none is shared. */
export function withoutNilLists(object: JsonObject): JsonObject {
  return written(object) as JsonObject;
}

function written(value: unknown): unknown {
  if (value === NIL_LIST) return null;
  if (Array.isArray(value)) {
    const items = value.map(written);
    return items.some((item, i) => item !== value[i]) ? items : value;
  }
  if (!isObject(value)) return value;
  let copy: Record<string, unknown> | undefined;
  for (const key of Object.keys(value)) {
    const made = written(value[key]);
    if (made === value[key]) continue;
    copy ??= { ...value };
    setKey(copy, key, made);
  }
  return copy ?? value;
}
