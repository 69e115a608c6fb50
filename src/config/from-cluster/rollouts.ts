/** The versions of all policies of a cluster, updated as its documents change. */
import type { ClusterDocument } from "./cluster-document.js";
import { type Rollout, rollout, type Versions } from "./rollout.js";

/** A policy that is rolled out, with its versions. */
export type RolledOut = Versions & { readonly rollout: Rollout };

/** Versions by document. One instance for each process, because it knows what was in force before. */
export class Rollouts {
  readonly #versions = new Map<string, Versions>();
  #rolledOut: ReadonlyMap<string, RolledOut> = new Map();
  #inForce: ReadonlyMap<string, ClusterDocument> = new Map();
  #inShadow: ReadonlyMap<string, ClusterDocument> = new Map();

  /** Policies that are rolled out, or have notes of it, by key. */
  get rolledOut(): ReadonlyMap<string, RolledOut> {
    return this.#rolledOut;
  }

  /** All documents in their version in force, by key: without policies that have none. One that has not changed stays the same object. */
  get inForce(): ReadonlyMap<string, ClusterDocument> {
    return this.#inForce;
  }

  /** All documents as they will be in force once everything is promoted: with versions in shadow in place of those in force. */
  get inShadow(): ReadonlyMap<string, ClusterDocument> {
    return this.#inShadow;
  }

  /** Takes over the present documents. */
  update(documents: ReadonlyMap<string, ClusterDocument>): void {
    for (const key of this.#versions.keys()) if (!documents.has(key)) this.#versions.delete(key);
    for (const [key, document] of documents) {
      const known = this.#versions.get(key);
      // Another resource of the same name was never in force.
      const before = known?.document.uid === document.uid ? known : undefined;
      if (before?.document.resourceVersion === document.resourceVersion) continue;
      this.#versions.set(key, rollout(document, before));
    }
    const rolled = [...this.#versions].filter((entry): entry is [string, RolledOut] => entry[1].rollout !== undefined);
    this.#rolledOut = new Map(rolled);
    const inForce = new Map<string, ClusterDocument>();
    const inShadow = new Map<string, ClusterDocument>();
    for (const [key, { active, rollout: how }] of this.#versions) {
      const next = how?.shadow?.document ?? active;
      if (active !== undefined) inForce.set(key, active);
      if (next !== undefined) inShadow.set(key, next);
    }
    this.#inForce = inForce;
    this.#inShadow = rolled.length === 0 ? inForce : inShadow;
  }
}
