/** A resource as `kubectl get -o json` prints it: people look up the places of mistakes there. */

/** Go's printer escapes what could be taken for HTML, and what JavaScript once took for the end of a line. */
const ESCAPED = /[<>&\u2028\u2029]/g;

const INDENT = "    ";

/**
 * Prints a value of the number model (data/json.ts) with four spaces and sorted keys.
 * @param value of an API server's answer
 */
export const kubectlText = (value: unknown): string => `${printed(value, "")}\n`;

/**
 * How many characters {@link kubectlText} would print, without printing: numbers in many brackets take a hundred times what they take in an answer. Characters that are escaped take up to
 * five more each.
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
  // As Go prints a double that is whole.
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
