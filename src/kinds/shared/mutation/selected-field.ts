/** The value of `Object{f: …}.f`: the server converts all fields to Go first, and the selected one back to CEL. */

import {
  CelError,
  entriesOf,
  kindOf,
  ListSum,
  MapValue,
  type ObjectValue,
  type OpaqueValue,
  type Optional,
  type Result,
  type TypeValue,
  type Value,
} from "../../../cel/index.js";
import { VARIABLES_TYPE } from "../dialect.js";
import { goText, goTypeOf } from "./go-value.js";

/** Whether fields can be converted: a map with keys that are not texts cannot, and then none of the fields exists. */
export function areSelectable(fields: ReadonlyMap<string, Value>): boolean {
  for (const value of fields.values()) if (!isSelectable(value)) return false;
  return true;
}

function isSelectable(value: Value): boolean {
  switch (kindOf(value)) {
    case "optional": {
      const content = (value as Optional).value;
      return content === undefined || isSelectable(content);
    }
    case "map":
      return !(value instanceof MapValue) || [...value.keys()].every((key) => typeof key === "string");
    case "list":
      return !(value instanceof ListSum) || (value as readonly Value[]).every(isSelectable);
    case "object":
      return (value as ObjectValue).typeName !== VARIABLES_TYPE;
    default:
      return true;
  }
}

/**
 * A field after both conversions. One that cannot be converted back is an error.
 * @param membersOf the fields of an `Object`; `undefined` of any other value, an error where they cannot be converted
 */
export function selected(
  value: Value,
  membersOf: (value: Value) => ReadonlyMap<string, Value> | CelError | undefined,
): Result {
  switch (kindOf(value)) {
    case "type":
      return (value as TypeValue).name;
    case "optional": {
      const content = (value as Optional).value;
      return content === undefined ? null : selected(content, membersOf);
    }
    case "opaque":
      return noWayBack(value as OpaqueValue);
    case "object": {
      const members = membersOf(value);
      if (members === undefined || members instanceof CelError) return members ?? value;
      return asMap(members, (field) => selected(field, membersOf));
    }
    case "list": {
      const list = value as readonly Value[];
      const inner = list instanceof ListSum ? selected : selectedItem;
      const items: Value[] = [];
      for (const item of list) {
        const made = inner(item, membersOf);
        if (made instanceof CelError) return made;
        items.push(made);
      }
      return items.some((item, i) => item !== list[i]) ? ListSum.containing(items) : value;
    }
    case "map":
      return value instanceof MapValue ? asMap(entriesOf(value), (item) => selectedItem(item, membersOf)) : value;
    default:
      return value;
  }
}

function asMap(entries: Iterable<readonly [Value, Value]>, convert: (item: Value) => Result): Result {
  const result = new MapValue();
  for (const [key, item] of entries) {
    const made = convert(item);
    if (made instanceof CelError) return made;
    result.set(key, made);
  }
  return result;
}

/** An item of a literal: its own lists and maps are not converted. */
export function selectedItem(value: Value, membersOf: Parameters<typeof selected>[1]): Result {
  const kind = kindOf(value);
  return kind === "list" || kind === "map" ? value : selected(value, membersOf);
}

function noWayBack(value: OpaqueValue): CelError {
  const type = goTypeOf(value);
  if (type === "*types.Err") return new CelError("no such overload");
  return new CelError(`unsupported conversion to ref.Val: (${type})${goText(value)}`);
}
