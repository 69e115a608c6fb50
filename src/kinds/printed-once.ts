import { stringifyJson } from "../data/json.js";

/** Makes a value's JSON text at the first call, and keeps it: few who are asked about a value need it. */
export function printedOnce(value: unknown): () => string {
  let text: string | undefined;
  return () => {
    text ??= stringifyJson(value);
    return text;
  };
}
