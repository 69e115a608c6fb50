/** Strict decoding as Kyverno's command does it: YAML as JSON with sorted keys, into Go's types. */
import { isObject } from "../../../kubernetes/object.js";
import { type ApiType, decode } from "./api-type.js";

/** The decoded value, without nulls; or the first mistake, in the words of Go's decoder. */
export type GoDecoded = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: string };

/** Decodes a value. Keys may be written in any case; of several mistakes the first in order of keys is reported, one of type before unknown fields. */
export function decodeAsGo(value: unknown, type: ApiType): GoDecoded {
  const decoded = decode(inFieldCase(value, type), type);
  if (decoded.ok) return decoded;
  const { text, path } = decoded.failure;
  if (!text.startsWith("strict decoding error: ")) return { ok: false, error: text };
  return { ok: false, error: `json: unknown field ${JSON.stringify(path.at(-1))}` };
}

/** The value with sorted keys, in the spelling of the fields. */
function inFieldCase(value: unknown, type: ApiType): unknown {
  if (type.kind === "list" && Array.isArray(value)) return value.map((item) => inFieldCase(item, type.element));
  if (type.kind !== "struct" || !isObject(value)) return value;
  const { fields } = type;
  const byLowerCase = new Map(Object.keys(fields).map((name) => [name.toLowerCase(), name]));
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => {
        const name = Object.hasOwn(fields, key) ? key : (byLowerCase.get(key.toLowerCase()) ?? key);
        const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
        return [name, field === undefined ? value[key] : inFieldCase(value[key], field)];
      }),
  );
}
