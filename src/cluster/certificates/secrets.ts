/** The one Secret in the cluster: followed by every replica, written by the leader. */
import type { Clock } from "../../data/clock.js";
import { followObject } from "../../kubernetes/client/follow.js";
import type { Cluster } from "../../kubernetes/client/index.js";
import { collectionPath, objectPath } from "../../kubernetes/client/paths.js";
import type { JsonObject } from "../../kubernetes/object.js";
import { FIELD_MANAGER } from "../lease.js";
import type { SecretPlace } from "./secret.js";

/** The operations on the Secret that certificates need. */
export interface Secrets {
  /** Calls back with the Secret, `undefined` for none, and again whenever it changes; `failed` with each reason why it cannot be read. */
  follow(signal: AbortSignal, seen: (secret: JsonObject | undefined) => void, failed: (error: unknown) => void): void;
  /**
   * Creates it.
   * @param dryRun whether the server only answers with the result, and keeps nothing
   * @returns the Secret as it is then
   * @throws ApiError, ClusterUnreachable
   */
  create(secret: JsonObject, dryRun: boolean, signal: AbortSignal): Promise<unknown>;
  /** Replaces the version that it names; otherwise like {@link create}. */
  replace(secret: JsonObject, dryRun: boolean, signal: AbortSignal): Promise<unknown>;
}

const SECRETS = { group: "", version: "v1", plural: "secrets" };

/** The Secret of this name. No others are requested: the right to this one is enough. */
export function secretsOf(
  cluster: Pick<Cluster, "follow" | "http">,
  { namespace, name }: SecretPlace,
  clock: Clock,
): Secrets {
  const collection = collectionPath(SECRETS, namespace);
  const own = objectPath(SECRETS, namespace, name);
  return {
    follow: (signal, seen, failed) => followObject(cluster, collection, name, signal, { clock, seen, failed }),
    create: (secret, dryRun, signal) =>
      cluster.http.create(collection, secret, { fieldManager: FIELD_MANAGER, dryRun }, signal),
    replace: (secret, dryRun, signal) =>
      cluster.http.replace(own, secret, { fieldManager: FIELD_MANAGER, dryRun }, signal),
  };
}
