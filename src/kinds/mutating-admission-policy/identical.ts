/** Whether Go takes two values of CEL for the same thing (`reflect.DeepEqual`), which is how the server compares `Object` values. */
import {
  compare,
  doubleOf,
  entriesOf,
  kindOf,
  MapValue,
  ObjectValue,
  sizeOfMap,
  type Timestamp,
  type TypeValue,
  type Value,
} from "../../cel/index.js";

/** Whether two values are of the same kind and made of the same. Lists are only when they are one and the same, and so is what holds them. */
export function isIdentical(a: Value, b: Value): boolean {
  if (a === b) return !(typeof a === "number" && Number.isNaN(a));
  const kind = kindOf(a);
  if (kind !== kindOf(b)) return false;
  switch (kind) {
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
    case "map":
      return a instanceof MapValue === b instanceof MapValue && haveSameEntries(a, b);
    case "object":
      return a instanceof ObjectValue && b instanceof ObjectValue && haveSameFields(a, b);
    default:
      return false;
  }
}

function haveSameEntries(a: Value, b: Value): boolean {
  if (sizeOfMap(a) !== sizeOfMap(b)) return false;
  const others = new Map(Array.from(entriesOf(b), ([key, value]) => [identity(key), value] as const));
  for (const [key, value] of entriesOf(a)) {
    const other = others.get(identity(key));
    if (other === undefined || !isIdentical(value, other)) return false;
  }
  return true;
}

const identity = (key: Value): string => `${kindOf(key)} ${String(key)}`;

function haveSameFields(a: ObjectValue, b: ObjectValue): boolean {
  const fields = [...a.fields()];
  if (a.typeName !== b.typeName || fields.length !== [...b.fields()].length) return false;
  return fields.every((field) => {
    const [left, right] = [a.get(field), b.get(field)];
    const both = b.has(field) === true && left !== undefined && right !== undefined;
    return both && isIdentical(left as Value, right as Value);
  });
}
