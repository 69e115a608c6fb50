/** Leases: objects that say who is there, as long as they are renewed (API group coordination.k8s.io). */
import type { JsonObject } from "../kubernetes/object.js";

/** Where they stand. */
export const LEASES = { group: "coordination.k8s.io", version: "v1", plural: "leases" };

/** Who writes them, and everything else that is the agent's. */
export const FIELD_MANAGER = "policy-server";

/** On all that is ours. */
export const MANAGED_BY: Readonly<Record<string, string>> = { "app.kubernetes.io/managed-by": "policy-server" };

/** Before the names of annotations and labels that are ours. */
export const PREFIX = "policy-server.admission/";

/** A name for each server of a namespace: without a word more for the one that most have. */
export const forServer = (name: string, policyServer: string): string =>
  policyServer === "default" ? name : `${name}-${policyServer}`;

/** As Leases have their times: with microseconds. @param wall milliseconds since 1970 */
export const microTime = (wall: number): string => new Date(wall).toISOString().replace("Z", "000Z");

/** An object of the kind. */
export const leaseObject = (metadata: JsonObject, spec: JsonObject): JsonObject => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata,
  spec,
});
