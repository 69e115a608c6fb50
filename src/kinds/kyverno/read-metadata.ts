/** `metadata` as the API server reads it: by its Go type, and for all kinds alike. */

import { type FieldError, type FieldPath, invalid } from "../../kubernetes/field-error.js";
import { dns1123LabelErrors } from "../../kubernetes/name-formats.js";
import { compareNames } from "../../kubernetes/names.js";
import { isObject, type JsonObject } from "../../kubernetes/object.js";
import { decode, decodeLeniently } from "../shared/decode/api-type.js";
import { OBJECT_META } from "../shared/decode/object-meta.js";
import { validateMetadata } from "../shared/decode/validate-metadata.js";
import type { Metadata } from "./resource.js";

/** Decoded; or the value that does not fit. */
type ReadMetadata =
  | { readonly ok: true; readonly value: Metadata; readonly unknown: readonly FieldPath[] }
  | { readonly ok: false; readonly path: FieldPath; readonly text: string };

/** Decodes `metadata`, which may be missing. */
export function readMetadata(metadata: unknown): ReadMetadata {
  const sorted = isObject(metadata) ? sortedByName(metadata) : metadata;
  const decoded = decodeLeniently(sorted, OBJECT_META);
  if (!decoded.ok) return { ok: false, path: ["metadata", ...decoded.failure.path], text: decoded.failure.text };
  const strict = decode(sorted, OBJECT_META);
  const unknown = strict.ok ? [] : strict.failure.unknown;
  return { ok: true, value: (decoded.value ?? {}) as Metadata, unknown: unknown.map((path) => ["metadata", ...path]) };
}

/** The reference looks at members in this order, and stops at the first of a wrong type. */
const sortedByName = (object: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(object).sort(([a], [b]) => compareNames(a, b)));

/** The mistakes of names and labels. An object without a namespace is in `default`; one that has no namespace may name any. */
export function validateNames(metadata: Metadata, namespaced: boolean): FieldError[] {
  const errors = validateMetadata(metadata);
  const { namespace = "" } = metadata;
  if (!namespaced || namespace === "") return errors;
  const path = ["metadata", "namespace"];
  const wrong = dns1123LabelErrors(namespace).map((error) => invalid(path, namespace, error));
  const after = errors.findIndex(({ path: [, member] }) => member !== "name" && member !== "generateName");
  return after < 0 ? [...errors, ...wrong] : [...errors.slice(0, after), ...wrong, ...errors.slice(after)];
}
