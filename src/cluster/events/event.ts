/** Events: what people see of an object with `kubectl describe` (API group events.k8s.io). */
import { createHash } from "node:crypto";
import type { JsonObject } from "../../kubernetes/object.js";
import { microTime } from "../lease.js";

/** The resource of events. */
export const EVENTS = { group: "events.k8s.io", version: "v1", plural: "events" };

/** Longest name of an object. */
const MAX_NAME = 253;
/** Longest note: Kubernetes allows 1 KiB. */
const MAX_NOTE = 1_000;

/** An event. */
export interface EventFacts {
  /** The object that it is about. */
  readonly regarding: JsonObject & { readonly name: string };
  readonly type: "Normal" | "Warning";
  readonly action: string;
  readonly reason: string;
  readonly note: string;
}

/** The object of an event of a replica; its name is different for each time. @param wall milliseconds since 1970 */
export function eventObject(facts: EventFacts, namespace: string, replica: string, wall: number): JsonObject {
  const time = microTime(wall);
  const { regarding, reason, note } = facts;
  const hash = createHash("sha256")
    .update(`${JSON.stringify(regarding)} ${replica} ${reason} ${time}`)
    .digest("hex");
  const name = `${regarding.name.slice(0, MAX_NAME - 17).replace(/[-.]+$/, "")}.${hash.slice(0, 16)}`;
  return {
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    metadata: { name, namespace },
    eventTime: time,
    reportingController: "policy-server",
    reportingInstance: replica.slice(0, 128),
    ...facts,
    note: note.slice(0, MAX_NOTE),
  };
}
