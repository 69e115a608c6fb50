/**
 * Reading fields of parsed JSON with the errors of spec kubewarden.md 3.5: `<json path>: <reason>`. Readers throw a {@link ShapeError}, which
 * never leaves this room; the happy path allocates nothing.
 */
import type { PathStep } from "./json-position.js";

/** A JSON object whose members are not known yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** A value of the wrong shape. */
export class ShapeError extends Error {
  readonly code = "WRONG_SHAPE";
  override readonly name = "ShapeError";

  /**
   * @param reason such as ``missing field `uid` ``
   * @param path the value that is wrong: for a missing field the object that lacks it
   */
  constructor(
    readonly reason: string,
    readonly path: PathStep[],
  ) {
    super(reason);
  }
}

/** An error that says what was found and what was expected. */
export function wrongType(value: unknown, expected: string): ShapeError {
  return new ShapeError(`invalid type: ${describe(value)}, expected ${expected}`, []);
}

/** An error for a required field that is absent from the object itself. */
export function missing(field: string): ShapeError {
  return new ShapeError(`missing field \`${field}\``, []);
}

/** A value that must be a string. */
export function readString(value: unknown): string {
  if (typeof value === "string") return value;
  throw wrongType(value, "a string");
}

/** A value that must be a boolean. */
export function readBoolean(value: unknown): boolean {
  if (typeof value === "boolean") return value;
  throw wrongType(value, "a boolean");
}

/** A required value, read by `read`. */
export function required<T>(object: JsonObject, field: string, read: (value: unknown) => T): T {
  const value = own(object, field);
  if (value === undefined) throw missing(field);
  return step(field, value, read);
}

/** A value read by `read`; undefined when absent or null. */
export function optional<T>(object: JsonObject, field: string, read: (value: unknown) => T): T | undefined {
  const value = own(object, field);
  return value === undefined || value === null ? undefined : step(field, value, read);
}

/** Reads a value one step down, so that an error names the step. */
export function step<T>(name: PathStep, value: unknown, read: (value: unknown) => T): T {
  try {
    return read(value);
  } catch (error) {
    throw error instanceof ShapeError ? within(name, error) : error;
  }
}

/** The names of an object's fields, each by its folded spelling and by itself. */
export type FieldNames = ReadonlyMap<string, string>;

/** For {@link refuseMisspelt}. */
export const fieldNames = (...names: readonly string[]): FieldNames =>
  new Map(names.flatMap((name) => [[folded(name), name] as const, [name, name] as const]));

/**
 * Refuses a member whose name is that of a field in other letters: Go's parser takes it for the field, so that a policy would not see what its
 * sender means. Other unknown members are left alone.
 */
export function refuseMisspelt(object: JsonObject, fields: FieldNames): void {
  for (const name in object) {
    const meant = fields.get(name) ?? fields.get(folded(name));
    if (meant === undefined || meant === name) continue;
    throw new ShapeError(`unknown field \`${name}\`, expected \`${meant}\``, []);
  }
}

/** One spelling for all that Go's parser takes for equal. */
const folded = (name: string): string => name.toUpperCase().toLowerCase();

/** A member of the object itself; nothing comes from a prototype. */
function own(object: JsonObject, field: string): unknown {
  return Object.hasOwn(object, field) ? object[field] : undefined;
}

function within(name: PathStep, error: ShapeError): ShapeError {
  error.path.unshift(name);
  return error;
}

function describe(value: unknown): string {
  if (value === null) return "null";
  if (typeof value === "string")
    return `string ${JSON.stringify(value.length > 64 ? `${value.slice(0, 64)}…` : value)}`;
  if (typeof value === "boolean") return `boolean \`${value}\``;
  if (typeof value === "bigint" || Number.isInteger(value)) return `integer \`${value}\``;
  if (typeof value === "number" || value instanceof Number) return `floating point \`${value}\``;
  return Array.isArray(value) ? "sequence" : "map";
}
