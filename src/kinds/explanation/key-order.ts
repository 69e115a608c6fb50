/** The keys of a changed value in the order of the former one: their order means nothing, and would show as changes. */

/** Deeper values are left as they are: what is shown of them ends long before. */
const MAX_DEPTH = 200;

/** The same value, where both have a map with its keys in the order of the former one; new keys follow. Items of lists are those of the same name, or else place. */
export function inOrderOf(former: unknown, changed: unknown, depth = 0): unknown {
  if (depth > MAX_DEPTH) return changed;
  if (Array.isArray(former) && Array.isArray(changed)) {
    const named = new Map(
      former.flatMap((item: unknown) => (nameOf(item) === undefined ? [] : [[nameOf(item), item]])),
    );
    return changed.map((item: unknown, at) => inOrderOf(named.get(nameOf(item)) ?? former[at], item, depth + 1));
  }
  if (!isMap(former) || !isMap(changed)) return changed;
  const first = Object.keys(former).filter((key) => Object.hasOwn(changed, key));
  const known = new Set(first);
  const keys = [...first, ...Object.keys(changed).filter((key) => !known.has(key))];
  return Object.fromEntries(
    // What both inherit is no counterpart.
    keys.map((key) => [key, inOrderOf(known.has(key) ? former[key] : undefined, changed[key], depth + 1)]),
  );
}

/** What tells items of most of Kubernetes' lists apart. */
function nameOf(item: unknown): string | undefined {
  const name = isMap(item) && Object.hasOwn(item, "name") ? item.name : undefined;
  return typeof name === "string" ? name : undefined;
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
