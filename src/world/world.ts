/** The sources that policies may ask beside the request: one interface for documents, a cluster, or none. */
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
  /** Decides whether a user may do something. */
  readonly authorizer: Authorizer;
  /** The sources that expressions may ask themselves; absent: none, and every question fails. */
  readonly external?: ExternalData;
  /** How objects of kinds that are not built in are merged; absent: only documents define it. */
  readonly mergeTypes?: MergeTypes;
  /** Monotonic milliseconds, the clock of deadlines. */
  readonly now: () => number;
  /** Milliseconds since 1970, the clock of expressions and of what expires; absent: the machine's. */
  readonly date?: () => number;
  /** The factor of the cost limits of expressions, set by the operator; absent: 1. */
  readonly costFactor?: number;
}

/** The world behind the documents of a policy: a cluster, a missing one, or none. */
export interface OuterWorld extends Omit<World, "resources"> {
  /** The source of Namespaces, parameters and kinds that no document brings; absent: only documents. */
  readonly resources?: ResourceSource;
  /** The source of resources' versions, asked when a request has another version than a rule names; absent: only documents and a table. */
  readonly versions?: Pick<ResourceSource, "equivalents">;
}

/**
 * The world of policies with documents. Where there are only documents, missing Namespaces are made up.
 * @param objects the documents besides policies: Namespaces, parameters, CustomResourceDefinitions
 */
export function worldOf(
  objects: readonly JsonObject[],
  { resources, versions, authorizer, external: outer, mergeTypes, now, date, costFactor }: OuterWorld,
): World {
  const options = versions === undefined ? {} : { versions };
  const external = externalWith(objects, outer);
  const common = {
    authorizer,
    external,
    now,
    ...(date && { date }),
    ...(mergeTypes && { mergeTypes }),
    ...(costFactor && { costFactor }),
  };
  if (resources !== undefined) {
    const layered = new LayeredResources(new FileResources(objects, options), resources);
    return { resources: layered, ...common };
  }
  const alone = new FileResources(objects, { guessScope: true, synthesiseNamespaces: true, ...options });
  return { resources: alone, ...common };
}
