/**
 * Validates values by schemas, with the API server's words for errors. Where it reports mistakes of several members in an order that changes from
 * run to run, they are sorted.
 */

import { parseGoDuration } from "../../data/go/duration.js";
import { isRfc3339 } from "../../data/rfc3339.js";
import { type FieldError, type FieldPath, formatPath, goJson, goQuote, invalid, required } from "../field-error.js";
import { compareNames } from "../names.js";
import { isObject, type JsonObject } from "../object.js";
import type { IntegerSchema, ObjectSchema, Schema, StringSchema } from "./schema.js";

/** Whether a text has the format. */
function hasFormat(text: string, format: NonNullable<StringSchema["format"]>): boolean {
  if (format === "duration") return parseGoDuration(text).ok;
  // The API server's own check is laxer, but it cannot read what only that accepts.
  return isRfc3339(text);
}

/** The largest and smallest value of Go's int32. */
const INT32 = { min: -(2 ** 31), max: 2 ** 31 - 1 };

/** The mistakes of a completed value. */
export function validate(value: unknown, schema: Schema, path: FieldPath): FieldError[] {
  const type = typeName(value);
  switch (schema.type) {
    case "any":
      return [];
    case "string":
      return validateString(value, schema, path);
    case "integer":
      return validateInteger(value, schema, path);
    case "boolean":
      return type === "boolean" ? [] : [wrongType(path, "boolean", type)];
    case "array":
      if (!Array.isArray(value)) return [wrongType(path, "array", type)];
      return value.flatMap((item, i) => validate(item, schema.items, [...path, i]));
    case "map":
      if (!isObject(value)) return [wrongType(path, "object", type)];
      return Object.keys(value)
        .sort(compareNames)
        .flatMap((key) => validate(value[key], schema.values, [...path, key]));
    case "object":
      if (isObject(value)) return validateObject(value, schema, path);
      return [wrongType(path, "object", type), ...(type === "null" ? [] : validateNoObject(schema, path))];
  }
}

function validateString(value: unknown, schema: StringSchema, path: FieldPath): FieldError[] {
  const { format } = schema;
  const errors: FieldError[] = [];
  if (typeof value !== "string") {
    const known = format === undefined || value === null;
    errors.push(wrongType(path, known ? "string" : format, known ? typeName(value) : formatName(value)));
  } else {
    if (format !== undefined && !hasFormat(value, format)) errors.push(wrongType(path, format, value));
    errors.push(...validateText(value, schema, path));
  }
  if (schema.enum !== undefined && !(typeof value === "string" && schema.enum.includes(value))) {
    const supported = schema.enum.map(goQuote).join(", ");
    const shown = typeof value === "string" ? goQuote(value) : goJson(value);
    errors.push({ path, text: `Unsupported value: ${shown}: supported values: ${supported}` });
  }
  return errors;
}

/** The first error of a text's length and form. */
function validateText(value: string, { minLength, maxLength, pattern }: StringSchema, path: FieldPath): FieldError[] {
  const length = minLength === undefined && maxLength === undefined ? 0 : Array.from(value).length;
  if (maxLength !== undefined && length > maxLength) {
    return [{ path, text: `Too long: may not be more than ${maxLength} bytes` }];
  }
  if (minLength !== undefined && length < minLength) {
    return [invalid(path, value, `${formatPath(path)} in body should be at least ${minLength} chars long`)];
  }
  if (pattern === undefined || new RegExp(pattern).test(value)) return [];
  return [invalid(path, value, `${formatPath(path)} in body should match '${pattern}'`)];
}

function validateInteger(value: unknown, { format, minimum }: IntegerSchema, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  // A whole number may be written with a point.
  const whole = value instanceof Number && Number.isInteger(value.valueOf());
  const type = whole ? "integer" : typeName(value);
  if (type !== "integer") {
    const named = format !== undefined && typeof value !== "string" && !Array.isArray(value) && value !== null;
    errors.push(wrongType(path, named ? format : "integer", named ? formatName(value) : type));
  }
  if (type !== "integer" && type !== "number") return errors;
  const size = Number(value);
  const fits = format !== "int32" || (size >= INT32.min && size <= INT32.max);
  if (type === "number" || !fits) {
    const wanted = format === undefined ? "(default format)" : `with format ${format}`;
    const detail = `Checked value must be of type integer ${wanted} in ${formatPath(path)}`;
    errors.push({ path: [], text: `Invalid value: "": ${detail}` });
  } else if (minimum !== undefined && size < minimum) {
    const text = `Invalid value: ${size}: ${formatPath(path)} in body should be greater than or equal to ${minimum}`;
    errors.push({ path, text });
  }
  return errors;
}

function validateObject(value: JsonObject, schema: ObjectSchema, path: FieldPath): FieldError[] {
  const { properties, oneOf } = schema;
  const missing = schema.required.filter((key) => !Object.hasOwn(value, key));
  return [
    ...(oneOf === undefined ? [] : validateChoice(value, oneOf, path)),
    ...Object.entries(properties)
      .sort(([a], [b]) => compareNames(a, b))
      .flatMap(([key, own]) => (Object.hasOwn(value, key) ? validate(value[key], own, [...path, key]) : [])),
    ...missing.map((key) => required([...path, key])),
  ];
}

/** The errors of a value that is not an object: it lacks no member, so each alternative holds. */
function validateNoObject({ oneOf }: ObjectSchema, path: FieldPath): FieldError[] {
  return oneOf === undefined ? [] : [notOne(`Found ${oneOf.length} valid alternatives`, path)];
}

/** The errors of a choice, of which exactly one member must be present. */
function validateChoice(value: JsonObject, names: readonly string[], path: FieldPath): FieldError[] {
  const count = names.filter((name) => Object.hasOwn(value, name)).length;
  if (count === 1) return [];
  if (count > 0) return [notOne(`Found ${count} valid alternatives`, path)];
  return [notOne("Found none valid", path), ...names.slice(0, 1).map((name) => required([...path, name]))];
}

const notOne = (found: string, path: FieldPath): FieldError => ({
  path: [],
  text: `Invalid value: "": "${formatPath(path)}" must validate one and only one schema (oneOf). ${found}`,
});

/** The errors of repeated items in lists with unique ones. */
export function validateUnique(value: unknown, schema: Schema, path: FieldPath): FieldError[] {
  if (schema.type === "array" && Array.isArray(value)) {
    const below = value.flatMap((item, i) => validateUnique(item, schema.items, [...path, i]));
    return [...repeatedItems(value, schema.unique, path), ...below];
  }
  if (!isObject(value)) return [];
  const keys = Object.keys(value).sort(compareNames);
  return keys.flatMap((key) => {
    const own = schema.type === "map" ? schema.values : schema.type === "object" ? schema.properties[key] : undefined;
    return own === undefined ? [] : validateUnique(value[key], own, [...path, key]);
  });
}

function repeatedItems(
  items: readonly unknown[],
  unique: "whole" | { readonly key: string } | undefined,
  path: FieldPath,
): FieldError[] {
  if (unique === undefined) return [];
  const key = unique === "whole" ? undefined : unique.key;
  if (key !== undefined) {
    const odd = items.findIndex((item) => item !== null && !isObject(item));
    if (odd >= 0) return [invalid([...path, odd], items[odd], "must be an object for an array of list-type map")];
  }
  const seen = new Map<string, number>();
  return items.flatMap((item, i) => {
    const identity = key === undefined ? item : isObject(item) && Object.hasOwn(item, key) ? { [key]: item[key] } : {};
    const text = goJson(identity);
    const times = (seen.get(text) ?? 0) + 1;
    seen.set(text, times);
    // Only the first repetition is reported.
    return times === 2 ? [{ path: [...path, i], text: `Duplicate value: ${text}` }] : [];
  });
}

const wrongType = (path: FieldPath, wanted: string, got: string): FieldError =>
  invalid(path, got, `${formatPath(path)} in body must be of type ${wanted}: ${goQuote(got)}`);

/** The schemas' name of a value's type. */
function typeName(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "array";
  if (value instanceof Number) return "number";
  if (typeof value === "bigint") return "integer";
  // A whole number that is not safe is beyond all integers of 64 bits.
  if (typeof value === "number") return Number.isSafeInteger(value) ? "integer" : "number";
  return typeof value === "object" ? "object" : typeof value;
}

/** A value's format, which only numbers have. */
function formatName(value: unknown): string {
  const type = typeName(value);
  if (type === "integer") return "int64";
  return type === "number" ? "float64" : "";
}
