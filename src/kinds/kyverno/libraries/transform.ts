/** Makes one map of two lists of objects (spec kyverno.md 4.6). */
import {
  BoundedWork,
  CelError,
  DYN,
  type FunctionDeclaration,
  type Kind,
  kindOf,
  listType,
  MapValue,
  mapType,
  type Result,
  STRING,
  typeNameOf,
  type Value,
} from "../../../cel/index.js";
import { functions, growing } from "./declare.js";

/** Most objects of a list: some 50 ms. */
export const MOST_PAIRS = 50_000;
/** Units of about a nanosecond that reading the keys of a call's objects may take; every object is read once, however often it is in the lists. */
export const MOST_WORK = 50_000_000;
const KEY_UNITS = 100;

const UNUSABLE_VALUE = "object cannot be handled as a map string to any in the value object list";
const UNUSABLE_KEY = "the passed key name cannot be handled as a string in the key object list";

/** Pairs the keys of one list's objects with the values of the other's, by their places. */
function listObjToMap(keys: readonly Value[], values: readonly Value[], keyName: string, valueName: string): Result {
  if (keys.length !== values.length) {
    const sizes = `list1: ${keys.length}, list2: ${values.length}`;
    return new CelError(`listObjToMap must take lists of equal length. ${sizes}`);
  }
  if (keys.length > MOST_PAIRS) return tooLarge();
  const map = new MapValue();
  const members = new Members();
  for (let i = 0; i < keys.length; i++) {
    const key = members.of(keys[i] ?? null, keyName);
    if (key instanceof CelError) return key;
    if (typeof key !== "string") return new CelError(UNUSABLE_KEY);
    const object = values[i] ?? null;
    const value = members.of(object, valueName);
    if (value instanceof CelError) return value.code === "conversion" ? new CelError(UNUSABLE_VALUE) : value;
    map.set(key, value ?? null);
  }
  return map;
}

/** The reference's names of kinds that are not maps. */
const GO_TYPES: Readonly<Partial<Record<Kind, string>>> = {
  bool: "bool",
  bytes: "[]uint8",
  double: "float64",
  int: "int64",
  list: "[]interface {}",
  null: "structpb.NullValue",
  string: "string",
  uint: "uint64",
};

const tooLarge = (): CelError => new CelError("too many objects to become a map", "too-large");

/** Reads the objects of one call (disposable) whose keys are all texts. */
class Members {
  readonly #work = new BoundedWork(MOST_WORK);
  readonly #usable = new Set<MapValue>();

  /** The member; `undefined` where the object has none of the name. */
  of(object: Value, name: string): Value | CelError | undefined {
    const kind = kindOf(object);
    if (kind !== "map") {
      const conversion = `interface {} is ${GO_TYPES[kind] ?? typeNameOf(object)}, not map[interface {}]interface {}`;
      return new CelError(`internal error: interface conversion: ${conversion}`);
    }
    if (!(object instanceof MapValue)) {
      return Object.hasOwn(object as object, name) ? (object as Readonly<Record<string, Value>>)[name] : undefined;
    }
    return this.#check(object) ?? object.get(name);
  }

  #check(map: MapValue): CelError | undefined {
    if (this.#usable.has(map)) return undefined;
    this.#work.left -= (map.size + 1) * KEY_UNITS;
    if (this.#work.left < 0) return tooLarge();
    for (const key of map.keys()) {
      if (typeof key === "string") continue;
      return new CelError(`failed to convert key to a string, ${GO_TYPES[kindOf(key)]}`, "conversion");
    }
    this.#usable.add(map);
    return undefined;
  }
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
