/** A resource as `kubectl get -o json` prints it, where people look up the places of mistakes. */

/** Characters that Go's printer escapes: those special in HTML, and old line ends of JavaScript. */
const ESCAPED = /[<>&\u2028\u2029]/g;

const INDENT = "    ";

/**
 * Prints a value of the number model (data/json.ts) with four spaces and sorted keys.
 * @param value a value of an API server's answer
 */
export const kubectlText = (value: unknown): string => `${printed(value, "")}\n`;

/**
 * The number of characters of {@link kubectlText}, without printing: numbers in many brackets take a hundred times their size in an answer. Escaped characters
 * count up to five less than they take.
 */
export const kubectlLength = (value: unknown): number => lengthOf(value, 1) + 1;

function lengthOf(value: unknown, depth: number): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null || value instanceof Number) return printed(value, "").length;
  const isList = Array.isArray(value);
  let length = 2;
  for (const key of Object.keys(value)) {
    const item = (value as Readonly<Record<string, unknown>>)[key];
    if (item === undefined && !isList) continue;
    const name = isList ? 0 : key.length + '"": '.length;
    length += depth * INDENT.length + name + lengthOf(item, depth + 1) + ",\n".length;
  }
  return length === 2 ? length : length + (depth - 1) * INDENT.length;
}

function printed(value: unknown, indent: string): string {
  switch (typeof value) {
    case "string":
      return quoted(value);
    case "bigint":
      return value.toString();
    case "object":
      break;
    default:
      return JSON.stringify(value) ?? "null";
  }
  if (value === null) return "null";
  // As Go prints a whole double.
  if (value instanceof Number) return String(value.valueOf());
  const inner = `${indent}${INDENT}`;
  const [open, close, parts] = Array.isArray(value)
    ? ["[", "]", value.map((item) => printed(item, inner))]
    : ["{", "}", members(value as Readonly<Record<string, unknown>>, inner)];
  if (parts.length === 0) return `${open}${close}`;
  return `${open}\n${parts.map((part) => `${inner}${part}`).join(",\n")}\n${indent}${close}`;
}

function members(object: Readonly<Record<string, unknown>>, indent: string): string[] {
  const keys = Object.keys(object).filter((key) => object[key] !== undefined);
  return keys.sort().map((key) => `${quoted(key)}: ${printed(object[key], indent)}`);
}

const quoted = (text: string): string => JSON.stringify(text).replace(ESCAPED, escaped);

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
