/** Takes back the form of Go's structs, in which the API server's own policies leave objects: files are shown and judged as they were written. */
import { setKey } from "../../data/plain-object.js";
import { sameValue } from "../../data/same-value.js";
import { asStruct, structOfObject } from "../../kubernetes/go-types/as-struct.js";
import { isObject, type JsonObject } from "../../kubernetes/object.js";

/** A changed object without the empty members that only its struct has added, and with those that only its struct has dropped. */
export function asWritten(before: JsonObject, after: JsonObject): JsonObject {
  const type = structOfObject(before);
  const shaped = type && asStruct(before, type);
  return shaped?.ok === true ? (restored(before, shaped.object, after) as JsonObject) : after;
}

/** @param shaped the written value as its struct has it */
function restored(written: unknown, shaped: unknown, after: unknown): unknown {
  if (sameValue(shaped, after)) return written;
  if (Array.isArray(written) && Array.isArray(shaped) && Array.isArray(after)) {
    // Items are matched by their place: where some are gone, it says nothing.
    if (after.length < shaped.length || written.length !== shaped.length) return after;
    return after.map((item: unknown, i) => (i < shaped.length ? restored(written[i], shaped[i], item) : item));
  }
  if (!isObject(written) || !isObject(shaped) || !isObject(after)) return after;
  const result: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(after)) {
    const [wasWritten, wasShaped] = [Object.hasOwn(written, key), Object.hasOwn(shaped, key)];
    if (!wasWritten && wasShaped && sameValue(shaped[key], value)) continue;
    setKey(result, key, wasWritten && wasShaped ? restored(written[key], shaped[key], value) : value);
  }
  for (const [key, value] of Object.entries(written))
    if (!Object.hasOwn(shaped, key) && !Object.hasOwn(after, key)) setKey(result, key, value);
  return result;
}
