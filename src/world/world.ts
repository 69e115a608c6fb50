/** What policies may ask about beside the request: one interface, whoever answers (documents, a cluster, nobody). */
import type { JsonObject } from "../kubernetes/object.js";
import type { Authorizer } from "./authorizer/authorizer.js";
import { type ExternalData, externalWith } from "./external.js";
import type { MergeTypes } from "./merge-types.js";
import { FileResources } from "./resources/file-resources.js";
import { LayeredResources } from "./resources/layered-resources.js";
import type { ResourceSource } from "./resources/resource-source.js";

/** The world around policies. Shared by all requests. */
export interface World {
  readonly resources: ResourceSource;
  /** Who may do what. */
  readonly authorizer: Authorizer;
  /** Whom expressions may ask themselves; absent: nobody, and every question fails. */
  readonly external?: ExternalData;
  /** How objects of kinds are merged that are no built-in ones; absent: nobody knows but documents. */
  readonly mergeTypes?: MergeTypes;
  /** Monotonic milliseconds, the clock of deadlines. */
  readonly now: () => number;
  /** What the cost limits of expressions are multiplied by, as the operator has it; absent: 1. */
  readonly costFactor?: number;
}

/** What stands behind the documents of a policy: a cluster, one that is missing, or nothing. */
export interface OuterWorld extends Omit<World, "resources"> {
  /** Where Namespaces, parameters and kinds are looked up that no document brings; absent: documents are all there is. */
  readonly resources?: ResourceSource;
  /** Who knows the versions of resources, asked when a request comes in another than a rule names; absent: nobody but documents and a table. */
  readonly versions?: Pick<ResourceSource, "equivalents">;
}

/**
 * The world of policies that bring documents along. Where documents are all there is, Namespaces are made up.
 * @param objects what the documents hold besides policies: Namespaces, parameters, CustomResourceDefinitions
 */
export function worldOf(
  objects: readonly JsonObject[],
  { resources, versions, authorizer, external: outer, mergeTypes, now, costFactor }: OuterWorld,
): World {
  const options = versions === undefined ? {} : { versions };
  const external = externalWith(objects, outer);
  const common = { authorizer, external, now, ...(mergeTypes && { mergeTypes }), ...(costFactor && { costFactor }) };
  if (resources !== undefined) {
    const layered = new LayeredResources(new FileResources(objects, options), resources);
    return { resources: layered, ...common };
  }
  const alone = new FileResources(objects, { guessScope: true, synthesiseNamespaces: true, ...options });
  return { resources: alone, ...common };
}
