/** Finds how objects of a kind are merged (spec mutating-admission-policy.md 7). */
import type { Waiting } from "../../../cel/index.js";
import { apiVersionOf, type GroupVersionKind } from "../../../kubernetes/names.js";
import type { JsonObject } from "../../../kubernetes/object.js";
import {
  type BundledSchemas,
  bundledSchemas,
  customResourceSchemas,
  joinedSchemas,
  type MergeSchemas,
  type VersionSchemas,
} from "../../../kubernetes/structured-merge/merge-schemas.js";
import type { RequestWorld } from "../../../world/request-world.js";
import type { LookupFailure } from "../../../world/resources/resource-source.js";

/** The kind whose objects describe custom resources. */
export const DEFINITION_KIND = "CustomResourceDefinition";

/** Finds the types of a group and version; `undefined` where none are published. */
export type FindTypes = (
  group: string,
  version: string,
  world: RequestWorld,
) => VersionSchemas | undefined | LookupFailure | Waiting;

/**
 * The types of built-in kinds, then those of definitions beside the policies, then those that a cluster publishes.
 * @param objects the documents: CustomResourceDefinitions among others
 */
export function findTypesIn(objects: readonly JsonObject[], bundled: BundledSchemas = bundledSchemas()): FindTypes {
  const definitions = objects.filter(({ kind }) => kind === DEFINITION_KIND);
  const here = joinedSchemas(bundled, customResourceSchemas(definitions, bundled));
  return (group, version, world) => here.version(group, version) ?? world.mergeTypes(group, version);
}

/** The types of a fixed set, for cases that are written down whole. */
export const findTypesOf =
  (schemas: MergeSchemas): FindTypes =>
  (group, version) =>
    schemas.version(group, version);

/** `acme.example/v1, Kind=Widget`, as Go prints a kind. */
export const printedKind = (kind: GroupVersionKind): string =>
  `${kind.group === "" ? "/" : ""}${apiVersionOf(kind)}, Kind=${kind.kind}`;
