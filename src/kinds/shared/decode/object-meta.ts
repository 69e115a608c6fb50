import { readTime } from "../../../kubernetes/go-types/go-time.js";
import { any, boolean, integer, list, map, parsed, string, struct } from "./api-type.js";

/** A time (`metav1.Time`). */
export const TIME = parsed((text) => {
  const time = readTime(text);
  return "error" in time ? time.error : undefined;
});

/** An item of `status.conditions`. */
export const CONDITION = struct("v1.Condition", {
  type: string(),
  status: string("v1.ConditionStatus"),
  observedGeneration: integer,
  lastTransitionTime: TIME,
  reason: string(),
  message: string(),
});

/** Go's type of `metadata`, for strict decoding. */
export const OBJECT_META = struct("v1.ObjectMeta", {
  name: string(),
  generateName: string(),
  namespace: string(),
  selfLink: string(),
  uid: string("types.UID"),
  resourceVersion: string(),
  generation: integer,
  creationTimestamp: TIME,
  deletionTimestamp: TIME,
  deletionGracePeriodSeconds: integer,
  labels: map(string()),
  annotations: map(string()),
  ownerReferences: list(
    struct("v1.OwnerReference", {
      apiVersion: string(),
      kind: string(),
      name: string(),
      uid: string("types.UID"),
      controller: boolean,
      blockOwnerDeletion: boolean,
    }),
  ),
  finalizers: list(string()),
  managedFields: list(
    struct("v1.ManagedFieldsEntry", {
      manager: string(),
      operation: string("v1.ManagedFieldsOperationType"),
      apiVersion: string(),
      time: TIME,
      fieldsType: string(),
      // Kept as written; its contents are not checked before the object is stored.
      fieldsV1: any,
      subresource: string(),
    }),
  ),
});
