import { ListSum, MapValue, Optional, type Value } from "../../cel/index.js";
import { quote } from "../../data/go/quote.js";
import { ObjectVal } from "./mutation-types.js";

/** Mistakes that a message shows. */
const MAX_MISTAKES = 100;

/**
 * What is wrong with the names of types in an `Object`: each must be that of the fields it stands in, through lists and maps
 * (spec mutating-admission-policy.md 5). `undefined` when they are right.
 */
export function typeNameMistakes(object: ObjectVal): string | undefined {
  const mistakes: string[] = [];
  /** Lists and maps, which may be named many times. */
  const seen = new Map<object, string>();
  const check = (of: Value, path: string): void => {
    const value = literalOf(of);
    if (mistakes.length >= MAX_MISTAKES) return;
    if (value instanceof ObjectVal) {
      if (value.typeName !== path) {
        const expected = `expected ${quote(path, false)}, which matches field name path from root Object type`;
        mistakes.push(`unexpected type name ${quote(value.typeName, false)}, ${expected}`);
      }
      for (const [field, inner] of value.members) check(inner, `${path}.${field}`);
      return;
    }
    if (value instanceof ListSum) return;
    const isList = Array.isArray(value);
    if (!isList && !(value instanceof MapValue)) return;
    if (seen.get(value) === path) return;
    seen.set(value, path);
    for (const item of isList ? (value as readonly Value[]) : Array.from(value.entries(), ([, each]) => each)) {
      check(item, path);
    }
  };
  check(object, object.typeName);
  return mistakes.length === 0 ? undefined : mistakes.join("\n");
}

/** Of optionals the literals are looked into, not an object itself. */
function literalOf(value: Value): Value {
  let content: Value = value;
  while (content instanceof Optional && content.value !== undefined) content = content.value;
  return content instanceof ObjectVal ? value : content;
}
