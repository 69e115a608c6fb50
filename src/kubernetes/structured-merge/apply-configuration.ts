/** ApplyConfiguration as the API server does it (spec mutating-admission-policy.md 7). */
import { setKey } from "../../data/plain-object.js";
import { parseApiVersion } from "../names.js";
import { isObject, type JsonObject, text } from "../object.js";
import type { PatchMemory } from "../patch-memory.js";
import { PatchItems } from "./list-items.js";
import { merge } from "./merge.js";
import type { VersionSchemas } from "./merge-schemas.js";
import { ForeignValue, NIL_LIST, type PatchValue } from "./patch-value.js";
import { LIST, MAP, type TypeReference } from "./schema.js";
import { typeProblems } from "./validate.js";
import { formOf, type Members } from "./value.js";

// The parts that a patch may not contain: lists and objects that would be replaced as a whole (spec mutating-admission-policy.md 7).

/** Most paths that are reported: the patch is refused anyway. */
const PATHS_MAX = 1000;

/**
 * The paths of all atomic lists, maps and structs in a value that fits the type. Members without a declared field are skipped, as the
 * API server does.
 */
function atomicsIn(type: TypeReference, value: unknown): readonly string[] {
  const found: string[] = [];
  find(type, value, [], found);
  return found;
}

/** @param path the names and indices on the way here: a text for every value would cost more than the search */
function find(reference: TypeReference, value: unknown, path: (string | number)[], found: string[]): void {
  const type = reference.resolve();
  if (type === undefined || found.length >= PATHS_MAX) return;
  const { map, list } = type;
  const form = formOf(value);
  if (form === MAP && map !== undefined) {
    if (map.atomic) found.push(pathOf(path));
    const members = value as Members;
    for (const name of Object.keys(members)) {
      const field = map.fields.get(name);
      if (field === undefined) continue;
      path.push(name);
      find(field, members[name], path, found);
      path.pop();
    }
  }
  if (form === LIST && list !== undefined) {
    if (list.atomic) found.push(pathOf(path));
    const items = value as readonly unknown[];
    for (let i = 0; i < items.length; i++) {
      path.push(i);
      find(list.element, items[i], path, found);
      path.pop();
    }
  }
}

const pathOf = (path: readonly (string | number)[]): string =>
  path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");

/** Whether a patch contains an empty list of CEL. */
function hasNilList(value: unknown): boolean {
  if (value === NIL_LIST) return true;
  if (Array.isArray(value)) return value.some(hasNilList);
  return (
    isObject(value) && !(value instanceof ForeignValue) && Object.keys(value).some((key) => hasNilList(value[key]))
  );
}

/** The object as it is written: an empty list of CEL in it becomes null. Parts without one are shared. */
function withoutNilLists(object: JsonObject): JsonObject {
  return written(object) as JsonObject;
}

function written(value: unknown): unknown {
  if (value === NIL_LIST) return null;
  if (Array.isArray(value)) {
    const items = value.map(written);
    return items.some((item, i) => item !== value[i]) ? items : value;
  }
  if (!isObject(value)) return value;
  let copy: Record<string, unknown> | undefined;
  for (const key of Object.keys(value)) {
    const made = written(value[key]);
    if (made === value[key]) continue;
    copy ??= { ...value };
    setKey(copy, key, made);
  }
  return copy ?? value;
}

/** The object after the patch, or the error, in the API server's words. */
export type Applied = { readonly object: JsonObject } | { readonly failure: string };

/**
 * Merges a patch into an object. Neither is changed; the result shares with each the parts that the other does not have.
 * @param schemas those of the object's group and version
 * @param live the object, of the number model of `data/json`
 * @param patch its apiVersion and kind are ignored: they are the object's
 * @param memory the kept facts about the parts of the object
 * @param replaces whether the patch may contain what is replaced as a whole, as in server-side apply
 */
export function applyConfiguration(
  schemas: VersionSchemas,
  live: JsonObject,
  patch: { readonly [field: string]: PatchValue },
  memory?: PatchMemory,
  replaces = false,
): Applied {
  const apiVersion = text(live, "apiVersion");
  const kind = text(live, "kind");
  const type = schemas.typeOf(kind);
  if (type === undefined) {
    const { group, version } = parseApiVersion(apiVersion) ?? { group: "", version: "" };
    return failure(
      "failed to convert patch object to typed object",
      `no corresponding type for ${group}/${version}, Kind=${kind}`,
    );
  }
  const asked = withIdentity(patch, apiVersion, kind);
  const items = new PatchItems();
  const unfit = typeProblems(type, asked, items);
  if (unfit !== undefined) return failure("failed to convert patch object to typed object", unfit);
  const atomics = replaces ? [] : atomicsIn(type, asked);
  if (atomics.length > 0) {
    return failure(
      "invalid ApplyConfiguration",
      `may not mutate atomic arrays, maps or structs: ${atomics.join(", ")}`,
    );
  }
  const broken = typeProblems(type, live, memory);
  if (broken !== undefined) return failure("failed to convert original object to typed object", broken);
  // Both are objects, and so is the result.
  const object = merge(type, live, asked, items) as JsonObject;
  return { object: hasNilList(patch) ? withoutNilLists(object) : object };
}

const failure = (step: string, cause: string): Applied => ({ failure: `error applying patch: ${step}: ${cause}` });

function withIdentity(patch: JsonObject, apiVersion: string, kind: string): JsonObject {
  const result: Record<string, unknown> = {};
  for (const name of Object.keys(patch)) setKey(result, name, patch[name]);
  result.apiVersion = apiVersion;
  result.kind = kind;
  return result;
}
