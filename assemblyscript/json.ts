// Reading JSON whose shape nobody promises. Everything answers null (or an empty list) when the value is absent or of another type,
// so that a policy says what it wants instead of trapping on what it gets.
import { JSON } from "json-as";
import { DESERIALIZE_ESCAPE_TABLE } from "json-as/assembly/globals/tables";
import "./abort";

const SLASH: u8 = 0x2f;
// json-as reads the escape of a slash as U+0000, in values as well.
store<u8>(DESERIALIZE_ESCAPE_TABLE + SLASH, SLASH);

const BACKSLASH: u16 = 0x5c;

/** The object in `value`, or null. Its keys are what they mean: json-as leaves them as they are written, such as `te\u0061m` for `team`. */
export function asObject(value: JSON.Value | null): JSON.Obj | null {
  if (value === null || value.type !== JSON.Types.Object) return null;
  const object = value.get<JSON.Obj>();
  return hasEscapedKey(object) ? withPlainKeys(object) : object;
}

/** Whether a key is written with an escape. In `_kbuf` keys stand behind each other, each behind its length; `_kpos` has their places. */
function hasEscapedKey(object: JSON.Obj): bool {
  let escaped = false;
  for (let i = 0; i < object.size; i++) {
    const start = unchecked(object._kpos[i]) + 1;
    const end = i + 1 < object.size ? unchecked(object._kpos[i + 1]) : object._kused;
    // The length has 16 bits: a longer key would be taken for its own beginning.
    if (start + <i32>unchecked(object._kbuf[start - 1]) != end) unreachable();
    for (let at = start; at < end; at++) if (unchecked(object._kbuf[at]) == BACKSLASH) escaped = true;
  }
  return escaped;
}

/** The same object with keys as they are meant. Of a repeated one the last value counts. */
function withPlainKeys(object: JSON.Obj): JSON.Obj {
  const plain = new JSON.Obj();
  const keys = object.keys();
  const values = object.values();
  for (let i = 0; i < keys.length; i++) plain.set(JSON.parse<string>(`"${keys[i]}"`), values[i]);
  return plain;
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
