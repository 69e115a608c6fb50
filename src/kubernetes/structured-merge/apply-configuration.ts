/** ApplyConfiguration as the API server does it (spec mutating-admission-policy.md 7). */
import { setKey } from "../../data/plain-object.js";
import { parseApiVersion } from "../names.js";
import { type JsonObject, text } from "../object.js";
import type { PatchMemory } from "../patch-memory.js";
import { atomicsIn } from "./atomics.js";
import { PatchItems } from "./list-items.js";
import { merge } from "./merge.js";
import type { VersionSchemas } from "./merge-schemas.js";
import { hasNilList, withoutNilLists } from "./nil-lists.js";
import type { PatchValue } from "./patch-value.js";
import { typeProblems } from "./validate.js";

/** The object after the patch, or why there is none, in the API server's words. */
export type Applied = { readonly object: JsonObject } | { readonly failure: string };

/**
 * Merges a patch into an object. Neither is changed; the result shares with them what they do not both have.
 * @param schemas those of the object's group and version
 * @param live the object, of the number model of `data/json`
 * @param patch its apiVersion and kind do not count: they are the object's
 * @param memory of the parts of the object
 */
export function applyConfiguration(
  schemas: VersionSchemas,
  live: JsonObject,
  patch: { readonly [field: string]: PatchValue },
  memory?: PatchMemory,
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
  const atomics = atomicsIn(type, asked);
  if (atomics.length > 0) {
    return failure(
      "invalid ApplyConfiguration",
      `may not mutate atomic arrays, maps or structs: ${atomics.join(", ")}`,
    );
  }
  const broken = typeProblems(type, live, memory);
  if (broken !== undefined) return failure("failed to convert original object to typed object", broken);
  // Both are objects, and so is what comes of them.
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
