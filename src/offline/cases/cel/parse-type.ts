/**
 * Types as they are written in declarations: `int`, `list(string)`, `map(string, dyn)`, `optional_type(int)`, `kubernetes.Quantity`.
 */
import { listType, mapType, objectType, opaqueType, type ScalarKind, type Type } from "../../../cel/index.js";
import { BadVariable } from "./decode-value.js";

const SCALARS: ReadonlySet<string> = new Set<ScalarKind>([
  "dyn",
  "any",
  "null",
  "bool",
  "int",
  "uint",
  "double",
  "string",
  "bytes",
  "timestamp",
  "duration",
]);

/**
 * The type of a text.
 * @param objects names of declared object types; other names are library types
 * @throws BadVariable
 */
export function parseType(text: string, objects: ReadonlySet<string>): Type {
  const open = text.indexOf("(");
  if (open === -1) {
    if (SCALARS.has(text)) return { kind: text as ScalarKind };
    return objects.has(text) ? objectType(text) : opaqueType(text);
  }
  if (!text.endsWith(")")) throw new BadVariable(`not a type: ${text}`);
  const name = text.slice(0, open);
  const params = splitParams(text.slice(open + 1, -1)).map((param) => parseType(param, objects));
  const [first, second] = params;
  if (name === "list" && first !== undefined && params.length === 1) return listType(first);
  if (name === "map" && first !== undefined && second !== undefined && params.length === 2) {
    return mapType(first, second);
  }
  return opaqueType(name, ...params);
}

/** Splits at commas outside of parentheses. */
function splitParams(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "(") depth += 1;
    else if (text[i] === ")") depth -= 1;
    else if (text[i] === "," && depth === 0) {
      parts.push(text.slice(start, i).trim());
      start = i + 1;
    }
  }
  return [...parts, text.slice(start).trim()];
}
