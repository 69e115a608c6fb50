/** Equality of JSON values in the number model of `json.ts`. */

type Container = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object: not null, not an array, not a boxed double. */
export function isJsonObject(value: unknown): value is Container {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Number);
}

/** Whether two scalars are equal. Numbers are compared by value: a guest that prints 1.0 as 1 has changed nothing. */
export function sameScalar(a: unknown, b: unknown): boolean {
  const left = a instanceof Number ? a.valueOf() : a;
  const right = b instanceof Number ? b.valueOf() : b;
  if (left === right) return true;
  if (typeof left === "bigint" && typeof right === "number") return left === bigintOf(right);
  if (typeof left === "number" && typeof right === "bigint") return right === bigintOf(left);
  return false;
}

/** Whether two values are equal, whatever the order of keys. Recurses as deep as the values are (`JSON_MAX_DEPTH`). */
export function sameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => sameValue(item, b[index]));
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return sameScalar(a, b);
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => {
    const value = a[key];
    // An inherited member is not a value of JSON.
    return (value === b[key] && value !== undefined) || (Object.hasOwn(b, key) && sameValue(value, b[key]));
  });
}

function bigintOf(value: number): bigint | undefined {
  return Number.isInteger(value) ? BigInt(value) : undefined;
}
