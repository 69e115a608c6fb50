/** Two lists of objects as one map (spec kyverno.md 4.6). */
import {
  CelError,
  DYN,
  type FunctionDeclaration,
  listType,
  MapValue,
  mapType,
  type Result,
  STRING,
  type Value,
} from "../../../cel/index.js";
import { functions, growing } from "./declare.js";

const UNUSABLE_KEY = "the passed key name cannot be handled as a string in the key object list";

/** Pairs the keys of one list's objects with the values of the other's, by their places. */
function listObjToMap(keys: readonly Value[], values: readonly Value[], keyName: string, valueName: string): Result {
  if (keys.length !== values.length) {
    const sizes = `list1: ${keys.length}, list2: ${values.length}`;
    return new CelError(`listObjToMap must take lists of equal length. ${sizes}`);
  }
  const map = new MapValue();
  for (let i = 0; i < keys.length; i++) {
    const key = memberOf(keys[i], keyName);
    if (typeof key !== "string") return key instanceof CelError ? key : new CelError(UNUSABLE_KEY);
    const value = memberOf(values[i], valueName);
    if (value instanceof CelError) return value;
    map.set(key, value ?? null);
  }
  return map;
}

function memberOf(object: Value | undefined, name: string): Value | CelError | undefined {
  if (object instanceof MapValue) return object.get(name);
  if (typeof object !== "object" || object === null || Array.isArray(object))
    return new CelError("internal error: no map");
  return Object.hasOwn(object, name) ? (object as Readonly<Record<string, Value>>)[name] : undefined;
}

const LIST = listType(DYN);

/** `listObjToMap`. */
export const TRANSFORM_FUNCTIONS: readonly FunctionDeclaration[] = functions(
  ["listObjToMap", "transform.listObjToMap"],
  "list_of_object_to_map",
  [LIST, LIST, STRING, STRING],
  mapType(DYN, DYN),
  listObjToMap,
  growing(200),
);
