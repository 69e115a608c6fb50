// Reading JSON whose shape nobody promises. Everything answers null (or an empty list) when the value is absent or of another type,
// so that a policy says what it wants instead of trapping on what it gets.
import { JSON } from "json-as";
import { DESERIALIZE_ESCAPE_TABLE } from "json-as/assembly/globals/tables";
import "./abort";

const SLASH: u8 = 0x2f;
// json-as reads the escape of a slash as U+0000, in values as well.
store<u8>(DESERIALIZE_ESCAPE_TABLE + SLASH, SLASH);

/** Four backslashes, and the lowest and highest bits of four letters. */
const BACKSLASHES: u64 = 0x005c_005c_005c_005c;
const LOWEST: u64 = 0x0001_0001_0001_0001;
const HIGHEST: u64 = 0x8000_8000_8000_8000;
/** Longest key that json-as keeps apart from longer ones: it notes lengths in 16 bits. */
const LONGEST_KEY = 0xffff;

/** The object in `value`, or null. Its keys are what they mean: json-as leaves them as they are written, such as `te\u0061m` for `team`. */
export function asObject(value: JSON.Value | null): JSON.Obj | null {
  if (value === null || value.type !== JSON.Types.Object) return null;
  const object = value.get<JSON.Obj>();
  if (object._kused > LONGEST_KEY) refuseLongKeys(object);
  return mayHaveEscapedKey(object) ? withPlainKeys(object) : object;
}

/** Whether a key may be written with an escape. In `_kbuf` keys stand behind each other, each behind its length, which may look like a backslash. */
function mayHaveEscapedKey(object: JSON.Obj): bool {
  const start = changetype<usize>(object._kbuf);
  const end = start + ((<usize>object._kused) << 1);
  // Four letters at a time: a letter is 0 when it was a backslash, and borrows from the one above when 1 is taken away.
  for (let at = start; at < end; at += 8) {
    const letters = load<u64>(at) ^ BACKSLASHES;
    if ((letters - LOWEST) & ~letters & HIGHEST) return true;
  }
  return false;
}

/** Traps where a key is so long that json-as takes it for its own beginning. `_kpos` has the places of all keys. */
function refuseLongKeys(object: JSON.Obj): void {
  for (let i = 0; i < object.size; i++) {
    const start = unchecked(object._kpos[i]);
    const end = i + 1 < object.size ? unchecked(object._kpos[i + 1]) : object._kused;
    if (end - start - 1 > LONGEST_KEY) unreachable();
  }
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
