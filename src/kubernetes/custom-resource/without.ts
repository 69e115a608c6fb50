import { setKey } from "../../data/plain-object.js";
import type { FieldPath } from "../field-error.js";
import { isObject } from "../object.js";

/**
 * The value without the parts at the paths, so that the rest can be validated: members are left out, and an item of a list is replaced by
 * an empty map, so that the others keep their places. A path to nothing changes nothing.
 */
export function without(value: unknown, paths: readonly FieldPath[]): unknown {
  if (paths.length === 0) return value;
  if (Array.isArray(value)) {
    return value.map((item: unknown, i) => {
      const inside = below(paths, i);
      return inside.some((path) => path.length === 0) ? {} : without(item, inside);
    });
  }
  if (!isObject(value)) return value;
  const kept: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    const inside = below(paths, key);
    if (!inside.some((path) => path.length === 0)) setKey(kept, key, without(item, inside));
  }
  return kept;
}

const below = (paths: readonly FieldPath[], part: string | number): readonly FieldPath[] =>
  paths.filter(([first]) => first === part).map((path) => path.slice(1));
