import type { ClusterDelta, ClusterDocument, PolicySetRoute } from "./cluster-document.js";

/** A process' copy of a cluster's policies, updated by deltas. */
export class ClusterDocuments {
  #version = 0;
  #sets: readonly PolicySetRoute[] = [];
  readonly #documents = new Map<string, ClusterDocument>();

  /** The version of the last delta; 0 before the first one. */
  get version(): number {
    return this.#version;
  }

  /** The documents by key. One that has not changed stays the same object. */
  get documents(): ReadonlyMap<string, ClusterDocument> {
    return this.#documents;
  }

  /** All sets of policies that are asked together. */
  get sets(): readonly PolicySetRoute[] {
    return this.#sets;
  }

  /**
   * Applies a delta.
   * @returns false when it begins at another version than this one: nothing has changed then
   */
  apply({ version, base, put, removed, sets }: ClusterDelta): boolean {
    if (base !== 0 && base !== this.#version) return false;
    if (base === 0) {
      const kept = new Set(put.map(({ key }) => key));
      for (const key of this.#documents.keys()) if (!kept.has(key)) this.#documents.delete(key);
    }
    for (const key of removed) this.#documents.delete(key);
    for (const document of put) {
      const known = this.#documents.get(document.key);
      if (known === undefined || !isSame(known, document)) this.#documents.set(document.key, document);
    }
    this.#version = version;
    this.#sets = sets;
    return true;
  }
}

const isSame = (one: ClusterDocument, other: ClusterDocument): boolean =>
  one.uid === other.uid &&
  one.resourceVersion === other.resourceVersion &&
  one.leftOut === other.leftOut &&
  one.text === other.text;
