/** Where policies find how objects of a kind are merged (spec mutating-admission-policy.md 7). */
import { Waiting } from "../../cel/index.js";
import { apiVersionOf, type GroupVersionKind, type GroupVersionResource } from "../../kubernetes/names.js";
import type { JsonObject } from "../../kubernetes/object.js";
import {
  type BundledSchemas,
  customResourceSchemas,
  joinedSchemas,
  type MergeSchemas,
  type VersionSchemas,
} from "../../kubernetes/structured-merge/merge-schemas.js";
import type { RequestWorld } from "../../world/request-world.js";
import { LookupFailure } from "../../world/resources/resource-source.js";

/** The kind whose objects say what custom resources look like. */
export const DEFINITION: GroupVersionKind = {
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
};

/** Finds the types of a kind's group and version; `undefined` where nobody has published any. */
export type FindTypes = (
  kind: GroupVersionKind,
  resource: GroupVersionResource,
  world: RequestWorld,
) => VersionSchemas | undefined | LookupFailure | Waiting;

/**
 * The types of built-in kinds, then those of definitions, in documents or in a cluster.
 * @param objects the documents: CustomResourceDefinitions among others
 */
export function findTypesIn(bundled: BundledSchemas, objects: readonly JsonObject[]): FindTypes {
  const definitions = objects.filter(({ kind }) => kind === DEFINITION.kind);
  const here = joinedSchemas(bundled, customResourceSchemas(definitions, bundled));
  // Definitions are read once each, for as long as somebody holds them.
  const read = new WeakMap<JsonObject, MergeSchemas>();
  return ({ group, version }, resource, world) => {
    const known = here.version(group, version);
    if (known !== undefined || resource.group === "" || resource.resource === "") return known;
    const definition = world.get(DEFINITION, "", `${resource.resource}.${resource.group}`);
    if (definition === undefined || definition instanceof LookupFailure || definition instanceof Waiting)
      return definition;
    const schemas = read.get(definition) ?? customResourceSchemas([definition], bundled);
    read.set(definition, schemas);
    return schemas.version(group, version);
  };
}

/** The types of a fixed set: cases that are written down whole. */
export const findTypesOf =
  (schemas: MergeSchemas): FindTypes =>
  ({ group, version }) =>
    schemas.version(group, version);

/** `acme.example/v1, Kind=Widget`, as Go prints a kind. */
export const printedKind = (kind: GroupVersionKind): string =>
  `${kind.group === "" ? "/" : ""}${apiVersionOf(kind)}, Kind=${kind.kind}`;
