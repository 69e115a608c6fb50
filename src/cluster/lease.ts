/** Leases: objects that name the replicas, as long as they are renewed (API group coordination.k8s.io). */
import type { JsonObject } from "../kubernetes/object.js";

/** The resource of Leases. */
export const LEASES = { group: "coordination.k8s.io", version: "v1", plural: "leases" };

/** The field manager of Leases and all other objects of the agent. */
export const FIELD_MANAGER = "policy-server";

/** The labels of all our objects. */
export const MANAGED_BY: Readonly<Record<string, string>> = { "app.kubernetes.io/managed-by": "policy-server" };

/** The prefix of our annotations and labels. */
export const PREFIX = "policy-server.admission/";

/** A name for each server of a namespace: without a suffix for the default one. */
export const forServer = (name: string, policyServer: string): string =>
  policyServer === "default" ? name : `${name}-${policyServer}`;

/** A time in the form of Leases: with microseconds. @param wall milliseconds since 1970 */
export const microTime = (wall: number): string => new Date(wall).toISOString().replace("Z", "000Z");

/** A Lease object. */
export const leaseObject = (metadata: JsonObject, spec: JsonObject): JsonObject => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata,
  spec,
});
