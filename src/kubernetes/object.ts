/** Reads Kubernetes objects, which are plain JSON and may lack any member. */
import { isJsonObject } from "../data/same-value.js";
import { apiVersionOf, type GroupVersionKind } from "./names.js";

/** Any JSON object. */
export type JsonObject = { readonly [key: string]: unknown };

/** Whether a value is a JSON object (not an array, not null, not a boxed number). */
export const isObject: (value: unknown) => value is JsonObject = isJsonObject;

/** An own member of an object; `undefined` for everything else. */
export const member = (value: unknown, key: string): unknown =>
  isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;

/** An own member that is a string, else `""`. */
export function text(value: unknown, key: string): string {
  const found = member(value, key);
  return typeof found === "string" ? found : "";
}

/**
 * The object with apiVersion and kind: one that is missing, null or empty is that of `kind`. An object that has both is returned itself.
 */
export function describedAs(object: JsonObject, kind: GroupVersionKind): JsonObject {
  const lacks = (key: string): boolean => (member(object, key) ?? "") === "";
  const [apiVersion, name] = [lacks("apiVersion"), lacks("kind")];
  if (!apiVersion && !name) return object;
  return { ...object, ...(apiVersion && { apiVersion: apiVersionOf(kind) }), ...(name && { kind: kind.kind }) };
}

/** `metadata.name`, or `""`. */
export const nameOf = (object: unknown): string => text(member(object, "metadata"), "name");

/** `metadata.namespace`, or `""`. */
export const namespaceOf = (object: unknown): string => text(member(object, "metadata"), "namespace");

/** The place of a name or namespace that is not a text (such as `name: 1234`), so that the object cannot be identified. */
export function misnamedAt(object: unknown): readonly string[] | undefined {
  const metadata = member(object, "metadata") ?? {};
  if (!isObject(metadata)) return ["metadata"];
  for (const key of ["name", "namespace"]) {
    if (typeof (member(metadata, key) ?? "") !== "string") return ["metadata", key];
  }
  return undefined;
}

/** `metadata.labels`; an object without any has the empty set. Values that are not strings are left out. */
export function labelsOf(object: unknown): Readonly<Record<string, string>> {
  const labels = member(member(object, "metadata"), "labels");
  if (!isObject(labels)) return NO_LABELS;
  for (const key of Object.keys(labels)) {
    if (typeof labels[key] !== "string") {
      return Object.fromEntries(
        Object.entries(labels).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
      );
    }
  }
  return labels as Readonly<Record<string, string>>;
}

const NO_LABELS: Readonly<Record<string, string>> = Object.freeze({});
