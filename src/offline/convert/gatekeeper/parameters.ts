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
export function parametersOf(reading: Reading, { schema, takesUnknown }: Template): unknown {
  const written = reading.at(PARAMETERS);
  if (schema === undefined) {
    if (written !== undefined)
      reading.error(PARAMETERS, "the template has no schema of parameters, and so a cluster refuses them");
    return undefined;
  }
  const given = written === undefined || (written === null && !isNullable(schema)) ? schema.default : written;
  return given === undefined ? undefined : completed(reading, given, schema, PARAMETERS, takesUnknown);
}

const isNullable = (schema: unknown): boolean => member(schema, "nullable") === true;

function completed(reading: Reading, value: unknown, schema: unknown, path: Path, takesUnknown: boolean): unknown {
  if (!isObject(schema) || value === null) return value;
  const wrong = wrongType(value, schema);
  if (wrong !== undefined) {
    reading.error(path, `expected ${wrong}, as the template's schema says`);
    return value;
  }
  if (Array.isArray(schema.enum) && !schema.enum.some((one) => sameValue(one, value)))
    reading.error(path, `expected one of ${schema.enum.map((one) => stringifyJson(one)).join(", ")}`);
  if (Array.isArray(value))
    return value.map((item, index) => inside(reading, item, schema.items, [...path, index], takesUnknown));
  return isObject(value) ? completedMap(reading, value, schema, path, takesUnknown) : value;
}

/** An item or member: null is the default, unless the schema allows null. */
function inside(reading: Reading, value: unknown, schema: unknown, path: Path, takesUnknown: boolean): unknown {
  if (value !== null || isNullable(schema) || !isObject(schema) || schema.type === undefined)
    return completed(reading, value, schema, path, takesUnknown);
  if (schema.default !== undefined) return completed(reading, schema.default, schema, path, takesUnknown);
  reading.error(path, `expected ${nameOf(schema)}, as the template's schema says`);
  return value;
}

function completedMap(
  reading: Reading,
  value: JsonObject,
  schema: JsonObject,
  path: Path,
  takesUnknown: boolean,
): JsonObject {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const others = schema.additionalProperties;
  const keeps = takesUnknown || schema["x-kubernetes-preserve-unknown-fields"] === true || others === true;
  const made: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    const known = Object.hasOwn(properties, key) ? properties[key] : isObject(others) ? others : undefined;
    if (known === undefined && !keeps)
      reading.error(
        [...path, key],
        `unknown parameter, which a cluster refuses${didYouMean(key, Object.keys(properties))}`,
      );
    setKey(made, key, inside(reading, item, known, [...path, key], takesUnknown));
  }
  for (const [key, property] of Object.entries(properties)) {
    const preset = member(property, "default");
    if (!Object.hasOwn(value, key) && preset !== undefined)
      setKey(made, key, completed(reading, preset, property, [...path, key], takesUnknown));
  }
  for (const key of Array.isArray(schema.required) ? schema.required : [])
    if (!Object.hasOwn(made, String(key))) reading.error(path, `the required parameter ${String(key)} is missing`);
  return made;
}

/** The type that a schema expects, where the value has another. */
function wrongType(value: unknown, schema: JsonObject): string | undefined {
  if (schema["x-kubernetes-int-or-string"] === true || schema.type === undefined) return undefined;
  const isNumber = typeof value === "number" || typeof value === "bigint" || value instanceof Number;
  const fits = new Map<unknown, boolean>([
    ["string", typeof value === "string"],
    ["boolean", typeof value === "boolean"],
    ["number", isNumber],
    ["integer", isNumber && Number.isInteger(Number(value))],
    ["array", Array.isArray(value)],
    ["object", isObject(value)],
  ]);
  return fits.get(schema.type) === true ? undefined : nameOf(schema);
}

const nameOf = ({ type }: JsonObject): string => (/^[aeio]/.test(String(type)) ? `an ${type}` : `a ${String(type)}`);
