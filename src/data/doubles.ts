/** JSON as Go reads it into untyped values: every number is a double. */
import { setKey } from "./plain-object.js";

type Container = Readonly<Record<string, unknown>>;

/**
 * The value of the number model (`json.ts`) with doubles in place of integers. What holds no integer is shared with the original, because reviews of
 * many MiB are mostly texts; so the original must not change any more.
 */
export function withDoubles(value: unknown): unknown {
  switch (typeof value) {
    case "number":
    case "bigint": {
      const double = Number(value);
      return Number.isSafeInteger(double) ? Object(double) : double;
    }
    case "object":
      if (Array.isArray(value)) return list(value);
      return value === null || value instanceof Number ? value : map(value as Container);
    default:
      return value;
  }
}

function list(value: readonly unknown[]): unknown {
  let copy: unknown[] | undefined;
  for (let index = 0; index < value.length; index++) {
    const item = value[index];
    const made = withDoubles(item);
    if (made === item) continue;
    copy ??= value.slice();
    copy[index] = made;
  }
  return copy ?? value;
}

function map(value: Container): unknown {
  let copy: Record<string, unknown> | undefined;
  for (const key in value) {
    const item = value[key];
    if (typeof item === "string") continue;
    const made = withDoubles(item);
    if (made === item) continue;
    copy ??= { ...value };
    setKey(copy, key, made);
  }
  return copy ?? value;
}
