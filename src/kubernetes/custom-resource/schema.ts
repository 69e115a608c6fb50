/** The structural schemas of custom resources, as much of them as the kinds of policies here have. */

/** A string, maybe one of few, or with a format. */
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
  /** What stands for an absent member. */
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
  /** No item stands twice: as a whole, or by this member of it. */
  readonly unique?: "whole" | { readonly key: string };
}

/** Names that are free, and values of one kind. */
export interface MapSchema {
  readonly type: "map";
  readonly values: Schema;
}

/** Members that are known. */
export interface ObjectSchema {
  readonly type: "object";
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required: readonly string[];
  /** Exactly one of these is there. */
  readonly oneOf?: readonly string[];
}

/** Anything at all. */
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

/** An object; names of required members are sorted, as mistakes are told in that order. */
export const object = (
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[] = [],
  oneOf?: readonly string[],
): ObjectSchema => ({ type: "object", properties, required, ...(oneOf && { oneOf }) });

/** The schema of a member; `undefined` when there is no such member. Of scalars and lists nobody knows members. */
export function memberSchema(schema: Schema, key: string): Schema | undefined {
  if (schema.type === "map") return schema.values;
  if (schema.type !== "object") return undefined;
  return Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
}
