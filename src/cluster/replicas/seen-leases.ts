import { ResourceError } from "../../kubernetes/client/errors.js";
import type { ListTarget } from "../../kubernetes/client/watched-list.js";
import { isObject, member, nameOf, text } from "../../kubernetes/object.js";
import { PREFIX } from "../lease.js";
import type { ReplicaInfo } from "../replicas.js";
import { MAX_REPLICAS } from "./limits.js";

/** A replica's Lease as it was seen. */
export interface SeenLease extends ReplicaInfo {
  /** The name of the Lease. */
  readonly lease: string;
  readonly resourceVersion: string;
}

/** Leases of replicas, by their own names. */
export class SeenLeases implements ListTarget {
  readonly all = new Map<string, SeenLease>();

  /** @throws ResourceError when there are too many */
  put(object: unknown): void {
    const lease = nameOf(object);
    const metadata = member(object, "metadata");
    const facts: Record<string, string> = {};
    const annotations = member(metadata, "annotations");
    for (const [key, value] of isObject(annotations) ? Object.entries(annotations) : [])
      if (key.startsWith(PREFIX) && typeof value === "string") facts[key.slice(PREFIX.length)] = value;
    this.all.set(lease, {
      lease,
      name: text(member(object, "spec"), "holderIdentity"),
      resourceVersion: text(metadata, "resourceVersion"),
      routes: routesOf(facts),
      facts,
    });
    if (this.all.size > MAX_REPLICAS) throw new ResourceError(`there are more than ${MAX_REPLICAS} Leases of replicas`);
  }

  delete(object: unknown): void {
    this.all.delete(nameOf(object));
  }
}

/** The paths that a replica announces. */
export const routesOf = ({ routes = "" }: Readonly<Record<string, string>>): ReadonlySet<string> =>
  new Set(routes.split(",").filter((route) => route !== ""));
