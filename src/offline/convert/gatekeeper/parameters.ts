/** The parameters of a Constraint, completed and checked by the schema of its template, as the API server does for custom resources. */
import type { Path } from "../../../config/documents/problem.js";
import { stringifyJson } from "../../../data/json.js";
import { setKey } from "../../../data/plain-object.js";
import { sameValue } from "../../../data/same-value.js";
import { didYouMean } from "../../../data/suggest.js";
import { isObject, type JsonObject, member } from "../../../kubernetes/object.js";
import type { Reading } from "../reading.js";
import type { Template } from "./template.js";

const PARAMETERS: Path = ["spec", "parameters"];

/** The parameters with the schema's defaults; undefined where there are none. What a cluster would refuse is an error. */
export function parametersOf(reading: Reading, { schema: whole, takesUnknown }: Template): unknown {
  /** A value by a schema: absent, or null where the schema does not allow it, it is the default. */
  const completed = (schema: unknown, written: unknown, path: Path): unknown => {
    if (!isObject(schema)) return written;
    const isAbsent = written === undefined || (written === null && schema.nullable !== true);
    const value = isAbsent ? (schema.default ?? written) : written;
    if (value === undefined || (value === null && !isAbsent)) return value;
    if (!fits(value, schema)) {
      const type = String(schema.type);
      reading.error(path, `expected ${/^[aeio]/.test(type) ? "an" : "a"} ${type}, as the template's schema says`);
    } else if (Array.isArray(schema.enum) && !schema.enum.some((one) => sameValue(one, value)))
      reading.error(path, `expected one of ${schema.enum.map((one) => stringifyJson(one)).join(", ")}`);
    if (Array.isArray(value)) return value.map((item, index) => completed(schema.items, item, [...path, index]));
    return isObject(value) ? completedMap(schema, value, path) : value;
  };
  const completedMap = (schema: JsonObject, value: JsonObject, path: Path): JsonObject => {
    const properties = isObject(schema.properties) ? schema.properties : {};
    const others = schema.additionalProperties;
    const keeps = takesUnknown || schema["x-kubernetes-preserve-unknown-fields"] === true || others === true;
    const made: Record<string, unknown> = {};
    for (const key of new Set([...Object.keys(value), ...Object.keys(properties)])) {
      const known = member(properties, key) ?? (isObject(others) ? others : undefined);
      const hint = didYouMean(key, Object.keys(properties));
      if (known === undefined && !keeps)
        reading.error([...path, key], `unknown parameter, which a cluster refuses${hint}`);
      const item = completed(known, member(value, key), [...path, key]);
      if (item !== undefined) setKey(made, key, item);
    }
    for (const key of Array.isArray(schema.required) ? schema.required.map(String) : [])
      if (!Object.hasOwn(made, key)) reading.error(path, `the required parameter ${key} is missing`);
    return made;
  };
  const given = reading.at(PARAMETERS) ?? undefined;
  if (whole === undefined && given !== undefined)
    reading.error(PARAMETERS, "the template has no schema of parameters, and so a cluster refuses them");
  return completed(whole, given, PARAMETERS);
}

/** Whether a value has the type that its schema expects. */
function fits(value: unknown, schema: JsonObject): boolean {
  const { type } = schema;
  if (schema["x-kubernetes-int-or-string"] === true || type === undefined) return true;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isObject(value);
  if (type !== "integer" && type !== "number") return typeof value === type;
  const isNumber = typeof value === "number" || typeof value === "bigint" || value instanceof Number;
  return isNumber && (type === "number" || Number.isInteger(Number(value)));
}
