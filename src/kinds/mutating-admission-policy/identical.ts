/** Whether Go considers two CEL values equal (`reflect.DeepEqual`), which is how the server compares `Object` values. */
import {
  BoundedWork,
  compare,
  doubleOf,
  kindOf,
  MapValue,
  type ObjectValue,
  type Timestamp,
  type TypeValue,
  type Value,
} from "../../cel/index.js";

/**
 * Whether the fields of two objects have the same names and identical values. Two lists never are, nor values that contain them: Go compares their functions.
 * Data is compared by its contents.
 */
export function haveIdenticalValues(a: ReadonlyMap<string, Value>, b: ReadonlyMap<string, Value>): boolean {
  if (a.size !== b.size) return false;
  for (const [name, value] of a) {
    const other = b.get(name);
    if (other === undefined || !same(value, other, false)) return false;
  }
  return true;
}

function same(a: Value, b: Value, data: boolean): boolean {
  const kind = kindOf(a);
  if (kind !== kindOf(b)) return false;
  switch (kind) {
    case "null":
    case "bool":
    case "int":
    case "string":
      return a === b;
    case "double":
      return doubleOf(a) === doubleOf(b);
    case "uint":
    case "bytes":
    case "duration":
      return compare(a, b) === 0;
    case "timestamp":
      return compare(a, b) === 0 && (a as Timestamp).offsetSeconds === (b as Timestamp).offsetSeconds;
    case "type":
      return (a as TypeValue).name === (b as TypeValue).name;
    case "list":
      return data && sameItems(a as readonly Value[], b as readonly Value[]);
    case "map":
      return sameMaps(a, b);
    case "object":
      return a === b || (a as ObjectValue).isSame(b as ObjectValue, new BoundedWork(0)) === true;
    default:
      return a === b;
  }
}

const sameItems = (a: readonly Value[], b: readonly Value[]): boolean =>
  a === b || (a.length === b.length && a.every((item, i) => same(item, b[i] as Value, true)));

function sameMaps(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (a instanceof MapValue !== b instanceof MapValue) return false;
  if (!(a instanceof MapValue) || !(b instanceof MapValue)) return sameData(a as JsonMap, b as JsonMap);
  if (a.size !== b.size) return false;
  const others = new Map(Array.from(b.entries(), ([key, value]) => [identity(key), value] as const));
  for (const [key, value] of a.entries()) {
    const other = others.get(identity(key));
    if (other === undefined || !same(value, other, false)) return false;
  }
  return true;
}

type JsonMap = { readonly [key: string]: Value };

function sameData(a: JsonMap, b: JsonMap): boolean {
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && same(a[key] as Value, b[key] as Value, true));
}

const identity = (key: Value): string => `${kindOf(key)} ${String(key)}`;
