/** The conditions with the decision about a request (spec certificate-request-policy.md 1.3). */
import { type JsonObject, member, text } from "../../kubernetes/object.js";

/** The reason of our conditions. */
const REASON = "policy.cert-manager.io";

/** The types of conditions with a decision. */
export type DecisionType = "Approved" | "Denied";

/** The decision in a request's conditions. */
export function decisionIn(object: unknown): DecisionType | undefined {
  const conditions = member(member(object, "status"), "conditions");
  if (!Array.isArray(conditions)) return undefined;
  for (const condition of conditions) {
    const type = text(condition, "type");
    if ((type === "Approved" || type === "Denied") && text(condition, "status") === "True") return type;
  }
  return undefined;
}

/**
 * The patch for a request's status: only its one condition, so that others' are kept. It is for the version that was reviewed: with
 * any other the API server answers 409.
 *
 * The time is always now: a request that has had a true condition of this type is decided, and none is written.
 * @param wall milliseconds since 1970
 */
export function statusPatch(
  { apiVersion, kind, metadata }: JsonObject,
  type: DecisionType,
  message: string,
  wall: number,
): JsonObject {
  const lastTransitionTime = new Date(wall).toISOString().replace(/\.\d+Z$/, "Z");
  return {
    apiVersion,
    kind,
    metadata: {
      name: text(metadata, "name"),
      namespace: text(metadata, "namespace"),
      resourceVersion: text(metadata, "resourceVersion"),
    },
    status: { conditions: [{ type, status: "True", reason: REASON, message, lastTransitionTime }] },
  };
}
