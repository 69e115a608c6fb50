/** Finds how objects of a kind are merged (spec mutating-admission-policy.md 7). */
import type { Waiting } from "../../../cel/index.js";
import { builtinKinds } from "../../../kubernetes/builtin-kinds.js";
import type { FieldError } from "../../../kubernetes/field-error.js";
import { apiVersionOf, type GroupVersionKind, parseApiVersion } from "../../../kubernetes/names.js";
import { type JsonObject, member, text } from "../../../kubernetes/object.js";
import {
  type BundledSchemas,
  bundledSchemas,
  customResourceSchemas,
  joinedSchemas,
  type MergeSchemas,
  type VersionSchemas,
} from "../../../kubernetes/structured-merge/merge-schemas.js";
import type { Needs } from "../../../world/needs.js";
import type { RequestWorld } from "../../../world/request-world.js";
import type { LookupFailure } from "../../../world/resources/resource-source.js";
import type { MatchResources } from "../match/match-resources.js";

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

// The groups of custom resources that no document defines: how their objects are merged is not known without a cluster.

/** The consequences of unknown groups. */
export interface UnknownGroups {
  /** A cluster may define them. */
  readonly needs: Needs;
  /** One for each group that a rule names, for a policy that has no cluster; paths begin in `spec`. */
  readonly warnings: readonly FieldError[];
}

let builtin: ReadonlySet<string | undefined> | undefined;

/**
 * The unknown groups of constraints.
 * @param objects the documents beside the policy, CustomResourceDefinitions among them
 * @param refused what happens to requests about them
 */
export function unknownGroups(
  match: MatchResources | undefined,
  objects: readonly JsonObject[],
  refused = "requests about them are refused with 503",
): UnknownGroups {
  builtin ??= new Set(Array.from(builtinKinds(), ({ apiVersion }) => parseApiVersion(apiVersion)?.group));
  const defined = new Set(
    objects
      .filter(({ kind }) => kind === DEFINITION_KIND)
      .map((definition) => text(member(definition, "spec"), "group")),
  );
  const warnings: FieldError[] = [];
  let any = false;
  for (const [at, { apiGroups = [] }] of (match?.resourceRules ?? []).entries()) {
    for (const group of apiGroups) {
      if (group === "*") any = true;
      else if (!defined.has(group) && !builtin.has(group)) {
        const known = `nothing here says what objects of "${group}" look like: without a cluster, ${refused}`;
        const path = ["matchConstraints", "resourceRules", at, "apiGroups"];
        warnings.push({ path, text: `${known}; give their CustomResourceDefinition beside the policy` });
      }
    }
  }
  return { needs: { asks: any || warnings.length > 0, requires: [], parameters: [] }, warnings };
}
