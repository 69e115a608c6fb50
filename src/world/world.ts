/** What policies may ask about besides the request: one interface, whoever answers (documents, a cluster, nobody). */
import type { JsonObject } from "../kubernetes/object.js";
import { type Authorizer, NO_OPINION } from "./authorizer/authorizer.js";
import { FileResources } from "./resources/file-resources.js";
import { LayeredResources } from "./resources/layered-resources.js";
import type { ResourceSource } from "./resources/resource-source.js";

/** The world around policies. Shared by all requests. */
export interface World {
  readonly resources: ResourceSource;
  readonly authorizer: Authorizer;
  /** Monotonic milliseconds, the clock of deadlines. */
  readonly now: () => number;
}

/**
 * The world of policies that bring documents along.
 * @param objects what the documents hold besides policies: Namespaces, parameters, CustomResourceDefinitions
 * @param behind where they look for what no document brings; without it Namespaces are made up, and nobody is known to be allowed anything
 */
export function worldOf(
  objects: readonly JsonObject[],
  now: () => number,
  behind?: Pick<World, "resources" | "authorizer">,
): World {
  if (behind === undefined) {
    const resources = new FileResources(objects, { guessScope: true, synthesiseNamespaces: true });
    return { resources, authorizer: NO_OPINION, now };
  }
  const resources = new LayeredResources(new FileResources(objects), behind.resources);
  return { resources, authorizer: behind.authorizer, now };
}
