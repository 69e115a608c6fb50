/** Texts that identify values: two values have the same text exactly when they are of one type and are the same. */
import { Duration, Timestamp } from "./time.js";
import { TypeValue } from "./type-value.js";
import { Uint } from "./uint.js";
import { MapValue, ObjectValue, OpaqueValue, Optional, type Value } from "./value.js";

/** The text of a value; `undefined` for those without one, such as an authorizer, and for values that contain one. */
export function valueText(value: Value): string | undefined {
  if (value === null || typeof value === "boolean" || typeof value === "bigint") return String(value);
  // A bigint is never as small as an int that is a number, so the two can't be confused; doubles are marked by their letter.
  if (typeof value === "number") return Number.isSafeInteger(value) ? String(value) : `d${value}`;
  if (typeof value === "string") return JSON.stringify(value);
  if (value instanceof Number) return Object.is(value.valueOf(), -0) ? "d-0" : `d${value.valueOf()}`;
  if (Array.isArray(value)) return joined("[", value.map(valueText), "]");
  if (value instanceof Uint) return `u${value.value}`;
  if (value instanceof Uint8Array) return `b${Buffer.from(value).toString("base64")}`;
  if (value instanceof Timestamp) return `t${value.seconds}.${value.nanos}+${value.offsetSeconds}`;
  if (value instanceof Duration) return `n${value.nanos}`;
  if (value instanceof TypeValue) return `type ${value.name}`;
  if (value instanceof Optional) return value.value === undefined ? "none" : joined("?", [valueText(value.value)], "");
  if (value instanceof OpaqueValue) return value.identity && `${value.typeName} ${JSON.stringify(value.identity)}`;
  if (value instanceof ObjectValue) return undefined;
  return mapText(value instanceof MapValue ? value.entries() : Object.entries(value));
}

function joined(before: string, parts: readonly (string | undefined)[], after: string): string | undefined {
  return parts.includes(undefined) ? undefined : `${before}${parts.join(",")}${after}`;
}

/** The text of a map, in an order that does not depend on how the map was made. */
function mapText(entries: Iterable<readonly [Value, Value]>): string | undefined {
  const parts: (string | undefined)[] = [];
  for (const [key, item] of entries) {
    const [name, text] = [valueText(key), valueText(item)];
    parts.push(name && text && `${name}:${text}`);
  }
  return joined("{", parts.sort(), "}");
}
