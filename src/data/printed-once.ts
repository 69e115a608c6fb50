import { stringifyJson } from "./json.js";

/**
 * Makes a value's JSON text in UTF-8 at the first call, and keeps it: few policies that get a value need it.
 * @param plain as for `stringifyJson`
 */
export function printedOnce(value: unknown, plain = false): () => Uint8Array {
  let bytes: Uint8Array | undefined;
  return () => {
    bytes ??= Buffer.from(stringifyJson(value, plain));
    return bytes;
  };
}
