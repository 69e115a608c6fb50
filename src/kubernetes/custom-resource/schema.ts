/** The structural schemas of custom resources, as far as the kinds of policies here need them. */

/** A string, perhaps one of few, or with a format. */
export interface StringSchema {
  readonly type: "string";
  readonly enum?: readonly string[];
  readonly format?: "date-time" | "duration";
  /** In characters. */
  readonly minLength?: number;
  /** In characters. */
  readonly maxLength?: number;
  /** The source of a regular expression in ASCII, anchored. */
  readonly pattern?: string;
  /** The value of an absent member. */
  readonly default?: string;
}

/** A whole number. */
export interface IntegerSchema {
  readonly type: "integer";
  readonly format?: "int32" | "int64";
  readonly minimum?: number;
  readonly default?: number;
}

export interface BooleanSchema {
  readonly type: "boolean";
  readonly default?: boolean;
}

/** A list. */
export interface ListSchema {
  readonly type: "array";
  readonly items: Schema;
  /** Whether items are unique: as a whole, or by this member. */
  readonly unique?: "whole" | { readonly key: string };
}

/** A map with any names, and values of one kind. */
export interface MapSchema {
  readonly type: "map";
  readonly values: Schema;
}

/** An object with known members. */
export interface ObjectSchema {
  readonly type: "object";
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required: readonly string[];
  /** Names of which exactly one is present. */
  readonly oneOf?: readonly string[];
  /** The value of an absent member, without the defaults of its own members. */
  readonly default?: Readonly<Record<string, never>>;
}

/** Any value. */
export interface AnySchema {
  readonly type: "any";
}

export type Schema = StringSchema | IntegerSchema | BooleanSchema | ListSchema | MapSchema | ObjectSchema | AnySchema;

export const STRING: StringSchema = { type: "string" };
export const INTEGER: IntegerSchema = { type: "integer" };
export const BOOLEAN: BooleanSchema = { type: "boolean" };
export const ANY: AnySchema = { type: "any" };
export const list = (items: Schema, unique?: ListSchema["unique"]): ListSchema => ({
  type: "array",
  items,
  ...(unique && { unique }),
});
export const map = (values: Schema): MapSchema => ({ type: "map", values });

/** One of a few strings. */
export const oneOf = (...values: readonly string[]): StringSchema => ({ type: "string", enum: values });

/** An object; names of required members are sorted, as mistakes are reported in that order. */
export const object = (
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[] = [],
  oneOf?: readonly string[],
): ObjectSchema => ({ type: "object", properties, required, ...(oneOf && { oneOf }) });

/** The schema of a member; `undefined` when there is no such member. Scalars and lists have none. */
export function memberSchema(schema: Schema, key: string): Schema | undefined {
  if (schema.type === "map") return schema.values;
  if (schema.type !== "object") return undefined;
  return Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
}
