/** Reads the payloads of host calls. Errors have the words of common parsers; the guest sees them. */
import { PublicError } from "../../data/public-text.js";
import { isJsonObject } from "../../data/same-value.js";

/** Error of a payload with the wrong shape; the message goes to the guest unchanged. */
export class PayloadError extends PublicError {
  override readonly name = "PayloadError";
}

/** @throws PayloadError when the payload is not an object */
export function objectOf(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (!isJsonObject(value)) throw new PayloadError(`invalid type: ${what} must be an object`);
  return value;
}

/** @throws PayloadError when the payload is not a text */
export function textOf(value: unknown, what: string): string {
  if (value === undefined) throw new PayloadError(`missing field \`${what}\``);
  if (typeof value !== "string") throw new PayloadError(`invalid type: ${what} must be a string`);
  return value;
}

/** Undefined for null and for absence. */
export function optionalText(value: unknown, what: string): string | undefined {
  return value === undefined || value === null ? undefined : textOf(value, what);
}

/** @throws PayloadError */
export function booleanOf(value: unknown, what: string): boolean {
  if (value === undefined) throw new PayloadError(`missing field \`${what}\``);
  if (typeof value !== "boolean") throw new PayloadError(`invalid type: ${what} must be a boolean`);
  return value;
}

/** @throws PayloadError */
export function listOf<T>(value: unknown, what: string, element: (item: unknown, what: string) => T): T[] {
  if (value === undefined) throw new PayloadError(`missing field \`${what}\``);
  if (!Array.isArray(value)) throw new PayloadError(`invalid type: ${what} must be a list`);
  return value.map((item: unknown) => element(item, `an element of ${what}`));
}

/** Undefined for null and for absence. */
export function optionalList<T>(
  value: unknown,
  what: string,
  element: (item: unknown, what: string) => T,
): T[] | undefined {
  return value === undefined || value === null ? undefined : listOf(value, what, element);
}

/** A map of texts; undefined for null and for absence. */
export function optionalTexts(value: unknown, what: string): Readonly<Record<string, string>> | undefined {
  if (value === undefined || value === null) return undefined;
  const map = objectOf(value, what);
  for (const [key, text] of Object.entries(map)) textOf(text, `${what}.${key}`);
  return map as Record<string, string>;
}

/** An object whose fields are texts; a field that is null counts as absent. */
export function textFields(value: unknown, what: string): Readonly<Record<string, string>> {
  const given = Object.entries(objectOf(value, what)).filter(([, text]) => text !== null);
  return Object.fromEntries(given.map(([key, text]) => [key, textOf(text, `${what}.${key}`)]));
}

/** Bytes as JSON has them: a list of numbers. */
export function bytesOf(value: unknown, what: string): Uint8Array {
  const numbers = listOf(value, what, (item) => item);
  if (!numbers.every((item) => typeof item === "number" && Number.isInteger(item) && item >= 0 && item <= 255))
    throw new PayloadError(`invalid type: ${what} must be a list of bytes`);
  return Uint8Array.from(numbers as number[]);
}
