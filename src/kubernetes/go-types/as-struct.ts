/**
 * Converts objects of built-in kinds to the form that they have inside of the API server, which keeps them as Go structs: empty optional members are
 * removed and others added, null in a map of texts is `""`, times are in UTC, unknown members are dropped (spec
 * validating-admission-policy.md 4.4).
 */
import { formatPath, goQuote } from "../field-error.js";
import { type JsonObject, text } from "../object.js";
import type { PatchMemory } from "../patch-memory.js";
import { GoTypes } from "./catalogue.js";
import type { GoStruct } from "./go-type.js";
import { type Mistake, type Reader, Shaping } from "./shaping.js";

/** The types of the built-in kinds: from the file, read when it is first needed. */
const TYPES = new GoTypes();

/** The object as Go prints its struct; or the error, in Go's words, and its place. */
export type Shaped = { readonly ok: true; readonly object: JsonObject } | ({ readonly ok: false } & Mistake);

/** The struct of an object's kind; `undefined` when the kind is not built in. */
export const structOf = (apiVersion: string, kind: string): GoStruct | undefined => TYPES.ofKind(apiVersion, kind);

/** The struct of an object's own kind. */
export const structOfObject = (object: JsonObject): GoStruct | undefined =>
  structOf(text(object, "apiVersion"), text(object, "kind"));

/**
 * An object after it was decoded into its struct and printed again.
 * @param reader the decoder of requests (the default), or the server's own converter
 * @param memory the kept facts about the parts of the object
 */
export function asStruct(object: JsonObject, type: GoStruct, reader: Reader = "json", memory?: PatchMemory): Shaped {
  const shaping = new Shaping(reader, memory);
  const shaped = shaping.shape(object, type) as JsonObject;
  const { mistake } = shaping;
  return mistake === undefined ? { ok: true, object: shaped } : { ok: false, ...mistake };
}

/**
 * The error for which the API server would refuse an object, and its place; undefined for one that it may accept. Of kinds that are not built in it reads the
 * metadata only: the rest is checked by the schema of a CustomResourceDefinition.
 */
export function mismatchOf(object: JsonObject): Mistake | undefined {
  const shaped = asStruct(object, structOfObject(object) ?? customStruct(text(object, "kind")));
  return shaped.ok ? undefined : shaped;
}

function customStruct(kind: string): GoStruct {
  // Every kind has the same metadata.
  const metadata = structOf("v1", "ConfigMap")?.members.get("metadata");
  return { kind: "struct", go: kind, members: new Map(metadata && [["metadata", metadata]]) };
}

/**
 * The same by the API server's strict decoder: unknown members are an error too, all of them in the order of the text, but after any
 * value of a wrong type.
 */
export function asStructStrictly(object: JsonObject, type: GoStruct, memory?: PatchMemory): Shaped {
  const shaping = new Shaping("json", memory);
  const shaped = shaping.shape(object, type) as JsonObject;
  const { mistake, unknown } = shaping;
  if (mistake !== undefined) return { ok: false, ...mistake };
  const [first] = unknown;
  if (first === undefined) return { ok: true, object: shaped };
  // Keys with dots in them may make one path of two.
  const fields = new Set(unknown.map((path) => `unknown field ${goQuote(formatPath(path))}`));
  return { ok: false, error: `strict decoding error: ${[...fields].join(", ")}`, path: first };
}
