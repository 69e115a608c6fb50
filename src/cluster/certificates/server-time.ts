import { isObject, member, text } from "../../kubernetes/object.js";

/**
 * The API server's clock, as an object tells it that it has just written.
 * @returns milliseconds since 1970, in whole seconds; `undefined` when the object says nothing
 */
export function serverTime(object: unknown): number | undefined {
  const metadata = member(object, "metadata");
  const managed = member(metadata, "managedFields");
  const times = (Array.isArray(managed) ? managed : [])
    .filter(isObject)
    .map((entry) => Date.parse(text(entry, "time")));
  const known = [...times, Date.parse(text(metadata, "creationTimestamp"))].filter((time) => !Number.isNaN(time));
  return known.length === 0 ? undefined : Math.max(...known);
}
