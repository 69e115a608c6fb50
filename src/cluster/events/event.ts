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

/** An event, and what it is about. */
export interface EventFacts {
  /** The object: `apiVersion`, `kind`, `name`, and `namespace` where it has one. */
  readonly regarding: JsonObject & { readonly name: string };
  /** The namespace of the event. */
  readonly namespace: string;
  readonly type: "Normal" | "Warning";
  readonly action: string;
  readonly reason: string;
  readonly note: string;
  readonly replica: string;
  /** Milliseconds since 1970. */
  readonly wall: number;
}

/** The object of an event; its name is different for each time. */
export function eventObject({ regarding, namespace, replica, wall, note, ...facts }: EventFacts): JsonObject {
  const time = microTime(wall);
  const hash = createHash("sha256")
    .update(`${JSON.stringify(regarding)} ${replica} ${facts.reason} ${time}`)
    .digest("hex");
  return {
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    metadata: {
      name: `${regarding.name.slice(0, MAX_NAME - 17).replace(/[-.]+$/, "")}.${hash.slice(0, 16)}`,
      namespace,
    },
    eventTime: time,
    reportingController: "policy-server",
    reportingInstance: replica.slice(0, 128),
    ...facts,
    regarding,
    note: note.slice(0, MAX_NOTE),
  };
}
