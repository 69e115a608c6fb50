// Reading JSON whose shape nobody promises. Everything answers null (or an empty list) when the value is absent or of another type,
// so that a policy says what it wants instead of trapping on what it gets.
import { JSON } from "json-as";
import "./abort";

/** The object in `value`, or null. */
export function asObject(value: JSON.Value | null): JSON.Obj | null {
  if (value === null || value.type !== JSON.Types.Object) return null;
  return value.get<JSON.Obj>();
}

/** The text in `value`, or null. */
export function asText(value: JSON.Value | null): string | null {
  if (value === null || value.type !== JSON.Types.String) return null;
  return value.get<string>();
}

/** The elements of `value`; none when it is no list. */
export function asList(value: JSON.Value | null): JSON.Value[] {
  if (value === null || value.type !== JSON.Types.Array) return [];
  const list = value.get<JSON.Arr>();
  const elements = new Array<JSON.Value>(0);
  for (let i = 0; i < list.length; i++) elements.push(list.at(i));
  return elements;
}

/** Whether `value` is exactly true. */
export function isTrue(value: JSON.Value | null): bool {
  return value !== null && value.type === JSON.Types.Bool && value.get<bool>();
}

/** Whether `value` is there and not null. */
export function isPresent(value: JSON.Value | null): bool {
  return value !== null && value.type !== JSON.Types.Null;
}

/** The member `key` of an object; null when either is absent. */
export function member(value: JSON.Value | null, key: string): JSON.Value | null {
  const object = asObject(value);
  return object === null ? null : object.get(key);
}
