import type { ClusterDelta, ClusterDocument, PolicySetRoute } from "../config/from-cluster/cluster-document.js";

/** What the cluster holds as of the last delta: for processes that begin, or have missed one. */
export class ClusterCopy {
  readonly #documents = new Map<string, ClusterDocument>();
  #sets: readonly PolicySetRoute[] = [];
  #version = 0;

  /** Takes what has changed. */
  take({ version, base, put, removed, sets }: ClusterDelta): void {
    if (base === 0) this.#documents.clear();
    for (const document of put) this.#documents.set(document.key, document);
    for (const key of removed) this.#documents.delete(key);
    this.#sets = sets;
    this.#version = version;
  }

  /** Of the last delta; 0 before the first one. */
  get version(): number {
    return this.#version;
  }

  /** Whether there is a document of that key. */
  has(key: string): boolean {
    return this.#documents.has(key);
  }

  /** Everything; undefined while nothing is known. */
  whole(): ClusterDelta | undefined {
    if (this.#version === 0) return undefined;
    return { version: this.#version, base: 0, put: [...this.#documents.values()], removed: [], sets: this.#sets };
  }

  /** A delta in which nothing changes: what could not be had before is tried again. */
  empty(): ClusterDelta | undefined {
    if (this.#version === 0) return undefined;
    return { version: this.#version, base: this.#version, put: [], removed: [], sets: this.#sets };
  }
}
