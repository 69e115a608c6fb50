/** Bytes of a value beside its texts: a slot, and the head of a list, an object or a boxed number. */
const VALUE_BYTES = 32;

/** The memory of a JSON value in bytes, about. Ends early, with more than `limit`, if it exceeds that. */
export const jsonWeight = (value: unknown, limit = Number.MAX_SAFE_INTEGER): number => limit - left(value, limit);

/** The rest of a number of bytes; below 0 when they do not suffice. */
function left(value: unknown, bytes: number): number {
  let rest = bytes - VALUE_BYTES;
  if (typeof value === "string") return rest - value.length;
  if (typeof value !== "object" || value === null) return rest;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && rest >= 0; i++) rest = left(value[i], rest);
    return rest;
  }
  for (const key in value) {
    if (rest < 0) break;
    rest = left((value as Readonly<Record<string, unknown>>)[key], rest - key.length);
  }
  return rest;
}
