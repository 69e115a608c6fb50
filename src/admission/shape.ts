/**
 * Reads fields of parsed JSON with the errors of spec kubewarden.md 3.5: `<json path>: <reason>`. Readers throw a {@link ShapeError}, which
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
   * @param path the path of the wrong value: for a missing field the object that lacks it
   */
  constructor(
    readonly reason: string,
    readonly path: PathStep[],
  ) {
    super(reason);
  }
}

/** An error with the found and the expected type. */
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

/**
 * A required field, read by `read`.
 * @param value the field's value: reading it by name in each caller is faster than in one place for all
 */
export function required<T>(field: string, value: unknown, read: (value: unknown) => T): T {
  if (value === undefined) throw missing(field);
  return step(field, value, read);
}

/** The same for one that may be absent or null: undefined then. */
export function optional<T>(field: string, value: unknown, read: (value: unknown) => T): T | undefined {
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

/** The names of an object's fields. */
export interface FieldNames {
  /** The names in the API servers' order; unknown members may stand between them. */
  readonly inOrder: readonly string[];
  /** The names by their folded spelling and by themselves. */
  readonly bySpelling: ReadonlyMap<string, string>;
}

/** The names for {@link refuseMisspelt}. No field may have the name of an inherited member, such as `constructor`. */
export const fieldNames = (...names: readonly string[]): FieldNames => ({
  inOrder: names,
  bySpelling: new Map(names.flatMap((name) => [[folded(name), name] as const, [name, name] as const])),
});

/**
 * Refuses a member whose name is that of a field in other letter case: Go's parser reads it as the field, so that a policy would not see what its
 * sender means. Other unknown members are ignored.
 */
export function refuseMisspelt(object: JsonObject, { inOrder, bySpelling }: FieldNames): void {
  let next = 0;
  for (const name in object) {
    // Most objects have only these, in this order: they are not looked up.
    let at = next;
    while (at < inOrder.length && inOrder[at] !== name) at += 1;
    if (at < inOrder.length) {
      next = at + 1;
      continue;
    }
    const meant = bySpelling.get(name) ?? bySpelling.get(folded(name));
    if (meant === undefined || meant === name) continue;
    throw new ShapeError(`unknown field \`${name}\`, expected \`${meant}\``, []);
  }
}

/** One spelling for all names that are equal for Go's parser. */
const folded = (name: string): string => name.toUpperCase().toLowerCase();

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
