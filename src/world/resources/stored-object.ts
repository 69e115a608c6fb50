/**
 * Objects of built-in kinds in the shape in which a cluster holds them: as Go structs (spec validating-admission-policy.md 4.4). A file holds
 * what a person wrote.
 */
import { asStruct, misfitOf, structOfObject } from "../../kubernetes/go-types/as-struct.js";
import { isObject, type JsonObject, nameOf, namespaceOf, text } from "../../kubernetes/object.js";
import { LookupFailure } from "./resource-source.js";

/** The object as a cluster would show it, or why no cluster would take it; objects of other kinds as they are. */
export function asStored(object: JsonObject): JsonObject | LookupFailure {
  const type = structOfObject(object);
  if (type === undefined) {
    const misfit = misfitOf(object);
    return misfit === undefined ? object : refused(object, misfit.error);
  }
  const shaped = asStruct(object, type);
  if (!shaped.ok) return refused(object, shaped.error);
  return type.go === "v1.Secret" ? withStringData(shaped.object) : shaped.object;
}

function refused(object: JsonObject, why: string): LookupFailure {
  const name = `${namespaceOf(object)}/${nameOf(object)}`.replace(/^\//, "");
  return new LookupFailure(`${text(object, "kind")} '${name}' does not fit its type: ${why}`);
}

/** `stringData` is for writing only: the server encodes it into `data`. */
function withStringData(secret: JsonObject): JsonObject {
  const { stringData, data, ...rest } = secret;
  if (!isObject(stringData)) return secret;
  const encoded = Object.entries(stringData).map(([key, value]): [string, unknown] => [
    key,
    Buffer.from(String(value)).toString("base64"),
  ]);
  return { ...rest, data: Object.fromEntries([...Object.entries(isObject(data) ? data : {}), ...encoded]) };
}
